import type { Machine } from "@millwright/core/machine-api";
import type { ControllerContext } from "./context.ts";
import { createMatchNode, findNode } from "./node-candidates.ts";
import { findVmHolder } from "./find-vm-holder.ts";
import type { Node } from "../model/node-objects.ts";

/** The existing nodes of machines, by name of the machine. */
export type NodesOfMachines = ReadonlyMap<string, Node>;

/** The nodes of machines in the cache, never one of another VM; none without a target cluster. */
export function nodesOfMachines(
  machines: Iterable<Machine>,
  { target, caches, namespace, matchVm }: Pick<ControllerContext, "target" | "caches" | "namespace" | "matchVm">,
): NodesOfMachines {
  const nodes = new Map<string, Node>();
  if (target === undefined) return nodes;
  const match = createMatchNode(caches, namespace, matchVm);
  for (const machine of machines) {
    const { node } = findNode(machine, target.caches, match);
    if (node === undefined) continue;
    const holder = findVmHolder(machine, machine.spec.providerID ?? "", { caches, target }, match);
    if (holder === undefined) nodes.set(machine.metadata.name, node);
  }
  return nodes;
}
