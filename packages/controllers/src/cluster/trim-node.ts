import { trimObject } from "@millwright/kube";
import type { Node } from "../model/node-objects.ts";

/**
 * Removes from a Node what kubelets report of images (up to fifty, most of the bytes of a real Node, different on each) and what a store
 * never keeps.
 */
export function trimNode(node: Node): Node {
  const trimmed = trimObject(node);
  if (trimmed.status === undefined || !("images" in trimmed.status)) return trimmed;
  // The rest-copy keeps the engine's compact form; see trimObject.
  const { images: _, ...status } = trimmed.status;
  return { ...trimmed, status };
}
