import {
  type MatchVm,
  type MatchNode,
  vmIdentityOf,
  nodeIdentityOf,
  matchByProviderId,
  type FoundNode,
  pickNode,
} from "../model/pick-node.ts";
import { providerIdKey } from "@millwright/core/driver-host";
import { labelKeys, type Machine } from "@millwright/core/machine-api";
import type { ControlCaches, TargetCaches } from "./caches.ts";
import type { Node } from "../model/node-objects.ts";

/** Makes the match function of a controller: the driver of the Machine's class decides, or the default rule when no driver is known. */
export function createMatchNode(
  caches: Pick<ControlCaches, "classes">,
  namespace: string,
  matchVm?: MatchVm,
): MatchNode {
  if (matchVm === undefined) return matchByProviderId;
  return (machine, node) => {
    const name = machine.spec.class?.name ?? "";
    const provider = caches.classes.store.getByRef({ namespace, name })?.provider;
    return matchVm(provider, vmIdentityOf(machine), nodeIdentityOf(node));
  };
}

/** The Node of a Machine in the caches. */
export function findNode(machine: Machine, { nodes }: Pick<TargetCaches, "nodes">, match: MatchNode): FoundNode {
  const { store } = nodes;
  const named = store.get(machine.metadata.labels?.[labelKeys.node] ?? "");
  const key = providerIdKey(machine.spec.providerID);
  const byId = key === undefined ? [] : store.byIndex("providerId", key);
  // Nearly always; owners look for the Nodes of thousands of machines at once.
  if (named !== undefined && byId.every((node) => node === named) && match(machine, named) === "same")
    return { node: named, match: "same", foreignNode: undefined, otherNodes: [] };
  return pickNode(
    machine,
    {
      named,
      byId,
      labeled: store.byIndex("machine", machine.metadata.name),
    },
    match,
  );
}

/** The Machines that may belong to a Node: those that name it, and those whose provider id ends like the Node's. */
export function machinesMatching(node: Node, { machines }: Pick<ControlCaches, "machines">): readonly Machine[] {
  const key = providerIdKey(node.spec?.providerID);
  return [
    ...machines.store.byIndex("node", node.metadata.name),
    ...(key === undefined ? [] : machines.store.byIndex("providerId", key)),
  ];
}
