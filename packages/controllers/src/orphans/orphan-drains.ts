import type { ListedMachine } from "@millwright/core";
import type { ControllerContext } from "../cluster/context.ts";
import { isTargetUnread } from "../cluster/unread-target.ts";
import type { Node } from "../model/node-objects.ts";
import type { MachineListFacts } from "./find-doubt.ts";
import { nodesOfVm } from "./nodes-of-vm.ts";

/** How far the Nodes of a VM without machine are. `unread`: whether it has any is not known. */
export type OrphanDrainState = "none" | "unread" | "draining" | "drained";

/**
 * What the lists of VMs and the controller of Nodes know of each other: which VMs may be deleted now, and whose Nodes are drained. In memory only: the next process looks at lists of VMs first, and at the pods
 * again.
 */
export type OrphanDrains = ReturnType<typeof createOrphanDrains>;

/** Makes an {@link OrphanDrains} of no VM. */
export function createOrphanDrains(context: Pick<ControllerContext, "caches" | "namespace" | "target" | "matchVm">) {
  /** By class: the VMs that may be deleted, and what was known of the machines then. */
  const allowed = new Map<string, ReadonlyMap<string, MachineListFacts>>();
  /** UIDs of Nodes. */
  const drained = new Set<string>();
  const listeners = { allowed: [] as ((nodeName: string) => void)[], ended: [] as ((className: string) => void)[] };
  return {
    /** Replaces the VMs of a class that may be deleted now. */
    allow(className: string, vms: readonly ListedMachine[], facts: MachineListFacts): void {
      allowed.set(className, new Map(vms.map(({ providerId }) => [providerId, facts])));
      const names = vms.flatMap((vm) => nodesOfVm(vm, className, context)).map(({ metadata }) => metadata.name);
      for (const listener of listeners.allowed) names.forEach(listener);
    },
    /** What was known of the machines when the VM was found to be one that may be deleted; `undefined`: it may not be. */
    factsOf: (className: string, providerId: string): MachineListFacts | undefined =>
      allowed.get(className)?.get(providerId),
    /** How far the Nodes of a VM are. */
    stateOf(vm: ListedMachine, nodes: readonly Node[]): OrphanDrainState {
      if (vm.parts === undefined && isTargetUnread(context)) return "unread";
      if (nodes.length === 0) return "none";
      return nodes.every(({ metadata }) => drained.has(metadata.uid ?? "")) ? "drained" : "draining";
    },
    isDrained: (nodeUid: string): boolean => drained.has(nodeUid),
    /** The Node of a VM of a class is drained. */
    setDrained(nodeUid: string, className: string): void {
      drained.add(nodeUid);
      for (const listener of listeners.ended) listener(className);
    },
    /** The Node is drained no longer, or does not exist. */
    clear: (nodeUid: string): void => void drained.delete(nodeUid),
    /** The Node of a VM that was deleted is deleted. */
    nodeDeleted(className: string): void {
      for (const listener of listeners.ended) listener(className);
    },
    forget(className: string): void {
      allowed.delete(className);
    },
    /** Calls `listener` with the name of each Node of a VM that may be deleted. */
    onAllowed: (listener: (nodeName: string) => void) => void listeners.allowed.push(listener),
    /** Calls `listener` with a class one of whose VMs has been waiting for a Node that is drained now, or deleted. */
    onEnded: (listener: (className: string) => void) => void listeners.ended.push(listener),
  };
}
