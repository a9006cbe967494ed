import { labelKeys, type Machine } from "@millwright/core";
import type { ControllerContext } from "./context.ts";
import type { Node } from "./node-objects.ts";

/** The nodes of machines, by name of the machine, as far as there are any. */
export type NodesOfMachines = ReadonlyMap<string, Node>;

/** The nodes of machines in the cache, by the label that links them; none without a target cluster. */
export function nodesOfMachines(
  machines: Iterable<Machine>,
  { target }: Pick<ControllerContext, "target">,
): NodesOfMachines {
  const nodes = new Map<string, Node>();
  for (const { metadata } of machines) {
    const node = target?.caches.nodes.store.get(metadata.labels?.[labelKeys.node] ?? "");
    if (node !== undefined) nodes.set(metadata.name, node);
  }
  return nodes;
}
