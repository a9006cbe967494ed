import { ignoreNotFound, nodeResource } from "@millwright/kube";
import type { Target } from "../../cluster/context.ts";
import type { Node } from "../../model/node-objects.ts";

/** Reads a Node from the API server into the cache. */
export async function readNode(name: string, { api, caches }: Target): Promise<void> {
  const node = await ignoreNotFound(api.get<Node>(nodeResource, { name }));
  if (node !== undefined) caches.nodes.store.applyWrite(node);
}
