import type { MachineStatus } from "@millwright/core/machine-api";
import { objectFields, type ReconcileResult } from "@millwright/kube";
import type { ControllerContext, Target } from "../cluster/context.ts";
import { createNodeWriter } from "../cluster/control-writer.ts";
import { isTargetUnread } from "../cluster/unread-target.ts";
import { createMachineExecutor } from "../machine/act.ts";
import type { MachineMemory } from "../machine/memory.ts";
import type { MachineAction } from "../machine/state/decision.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import type { Live } from "../model/live.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import type { Node } from "../model/node-objects.ts";
import { decideOrphanNode } from "./decide-orphan-node.ts";
import type { OrphanNodeDecision } from "./node-stages.ts";
import { observeOrphanNode, type ObservedOrphanNode } from "./observe-orphan-node.ts";
import type { OrphanDrains } from "./orphan-drains.ts";

export type TargetContext = ControllerContext & { readonly target: Target };

/** How Nodes of VMs without machine are treated. */
export interface OrphanNodeOptions {
  readonly driver: MachineDriver;
  readonly settings: Live<MachineSettings>;
  readonly drains: OrphanDrains;
  /** Whether VMs without machine are deleted. If not, Nodes only get back what was taken from them. */
  readonly collects: boolean;
}

interface OrphanNodeMemory {
  readonly memory: MachineMemory;
  /** Enqueues the namespace and name of a Node. */
  readonly enqueue: (key: string) => void;
}

/** No Machine is remediated by a Node that has none. */
const noRemediations = { start: () => undefined, cancel: () => undefined };

/** Reports on the class of a VM, and in the log. */
function report(
  { caches, namespace, events, log }: ControllerContext,
  className: string | undefined,
  because: OrphanNodeDecision["because"],
): void {
  const machineClass = caches.classes.store.getByRef({ namespace, name: className ?? "" });
  if (machineClass === undefined) return;
  for (const reason of because) {
    events.record(machineClass, reason);
    const level = reason.type === "Warning" ? "warn" : "info";
    log(level, reason.reason, { ...objectFields(machineClass), because: reason.message });
  }
}

/** Reconciles Nodes: observe, decide, act. The drain is that of Machines: the Node has its stages, its memory and its executor, and no Machine. */
export function createOrphanNodeReconciler(context: TargetContext, options: OrphanNodeOptions & OrphanNodeMemory) {
  const { caches, namespace, target, clock, log } = context;
  const { settings, drains, memory } = options;
  const { store } = target.caches.nodes;
  /** Of drains, by UID of the Node. */
  const statuses = new Map<string, MachineStatus>();
  /** Keys of Nodes that are drained or deleted. */
  const leaving = new Set<string>();
  const keyOf = ({ metadata }: Pick<Node, "metadata">): string => `${namespace}/${metadata.name}`;
  const nodes = createNodeWriter(context);
  const { driver } = options;
  const enqueue = (node: Pick<Node, "metadata">): void => options.enqueue(keyOf(node));
  const executor = createMachineExecutor(context, {
    ...memory,
    driver,
    settings,
    remediations: noRemediations,
    enqueue,
  });

  const observe = (node: Node): ObservedOrphanNode =>
    observeOrphanNode(node, { ...options, context, statuses, settings: settings.current() });
  const act = async (action: MachineAction, seen: ObservedOrphanNode["leaving"]): Promise<void> => {
    if (seen !== undefined) return executor.act(seen.machine, seen.resolved, action);
    // A mark.
    if (action.kind === "PatchNode") await nodes.patch({ name: action.name }, action.patch);
  };
  const forget = (node: Node): void => {
    const { uid = "" } = node.metadata;
    memory.noteDrain(keyOf(node), undefined);
    statuses.delete(uid);
    leaving.delete(keyOf(node));
    drains.clear(uid);
  };
  /** Before the actions: withdraws what was requested of the pods of a Node that is not drained any more. */
  const begin = (node: Node, { snapshot }: ObservedOrphanNode, { stops }: OrphanNodeDecision): void => {
    if (stops !== true) {
      memory.noteDrain(keyOf(node), snapshot.leaving);
      if (snapshot.leaving !== undefined) leaving.add(keyOf(node));
      return;
    }
    for (const { metadata } of target.caches.pods.store.byIndex("node", node.metadata.name))
      memory.evictions?.forget(metadata.uid ?? "");
    forget(node);
  };
  /** After the actions. */
  const end = (node: Node, { snapshot }: ObservedOrphanNode, decision: OrphanNodeDecision): void => {
    const { uid = "", name } = node.metadata;
    const { vm, mark } = snapshot;
    if (decision.status !== undefined) statuses.set(uid, decision.status);
    memory.reported.record(uid, decision.because);
    if (vm === undefined) {
      if (mark !== undefined) log("info", "Node is no longer that of a VM without Machine", { node: name });
      return;
    }
    if (mark === undefined) log("warn", "Node of a VM without Machine is cordoned", { node: name, vm: vm.providerId });
    if (decision.isDrained === true) drains.setDrained(uid, vm.className);
    if (decision.actions.some(({ kind }) => kind === "DeleteNode")) drains.nodeDeleted(vm.className);
  };

  return {
    async reconcile(key: string): Promise<ReconcileResult> {
      const node = store.get(key.slice(namespace.length + 1));
      if (node === undefined || isTargetUnread(context)) return { done: true };
      let seen = observe(node);
      const unread = seen.leaving?.resolved.unread ?? [];
      if (unread.length > 0) {
        await caches.secrets.read(unread);
        seen = observe(node);
      }
      const decision = decideOrphanNode(seen.snapshot, clock.now());
      begin(node, seen, decision);
      for (const action of decision.actions) await act(action, seen.leaving);
      report(context, seen.snapshot.vm?.className, decision.because);
      end(node, seen, decision);
      return decision.requeueAfterMs === undefined ? { done: true } : { requeueAfterMs: decision.requeueAfterMs };
    },
    /** Whether the Node of a key is drained, or deleted after its VM. */
    isLeaving: (key: string): boolean => leaving.has(key),
    /** The Node is deleted. */
    forget,
  };
}
