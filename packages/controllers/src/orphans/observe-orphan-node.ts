import { annotationKeys, labelKeys, type Machine, type MachineStatus } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import type { ResolvedClass } from "../cluster/class-view.ts";
import type { ControllerContext, Target } from "../cluster/context.ts";
import { observeNodeDrain } from "../machine/drain/observe-node-drain.ts";
import type { MachineMemory } from "../machine/memory.ts";
import { observeClass } from "../machine/observe-class.ts";
import { clockAheadOf } from "../machine/observe-node.ts";
import type { MachineSnapshot } from "../machine/state/snapshot.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import type { Node } from "../model/node-objects.ts";
import { withOperation, withPhase } from "../model/status-change.ts";
import { noHistory } from "../remediation/node-history.ts";
import { noRemediationHold } from "../remediation/remediation-view.ts";
import type { OrphanNodeSnapshot } from "./decide-orphan-node.ts";
import { findDoubt } from "./find-doubt.ts";
import { readNodeMark } from "./node-mark.ts";
import { type OrphanVm, vmOfNode } from "./nodes-of-vm.ts";
import { observeMachineList } from "./observe-machine-list.ts";
import type { OrphanDrains } from "./orphan-drains.ts";

/** Where the Node of a VM without machine is looked up. */
export interface OrphanNodeSources {
  readonly context: ControllerContext & { readonly target: Target };
  readonly driver: MachineDriver;
  readonly settings: MachineSettings;
  readonly memory: MachineMemory;
  readonly drains: Pick<OrphanDrains, "factsOf" | "isDrained">;
  /** What the drain of a Node has reported, by its UID. */
  readonly statuses: ReadonlyMap<string, MachineStatus>;
  /** Whether VMs without machine are deleted: otherwise nothing is drained. */
  readonly collects: boolean;
}

/** What a reconcile has read. */
export interface ObservedOrphanNode {
  readonly snapshot: OrphanNodeSnapshot;
  /** With its class; absent while nothing is drained. */
  readonly leaving?: { readonly machine: Machine; readonly resolved: ResolvedClass };
}

/** The record of the drain is on the Node, where that of a Machine is on the Machine. */
const recorded = ({ metadata }: Node): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [annotationKeys.drainState, annotationKeys.interruptionDeadline].flatMap((key) => {
      const value = metadata.annotations?.[key];
      return value === undefined ? [] : [[key, value] as const];
    }),
  );

/** The Machine that a Node would have: it is being deleted since the drain was recorded. Named as the Node, of which a VM may have several. */
function leavingMachine(
  node: Node,
  { className, providerId, entry }: OrphanVm,
  namespace: string,
  since: number,
  status: MachineStatus,
): Machine {
  const { name, uid = "" } = node.metadata;
  const at = new Date(entry.deleted ?? since);
  const deleted = {
    description: { reason: "VmDeleted" },
    stage: "DeleteNode",
    state: "Processing",
    type: "Delete",
  } as const;
  const reached = entry.deleted === undefined ? status : withOperation(status, deleted, at);
  return {
    metadata: {
      name,
      namespace,
      uid,
      labels: { [labelKeys.node]: name },
      annotations: recorded(node),
      deletionTimestamp: apiTime(new Date(since)),
    },
    spec: { providerID: providerId, class: { kind: "MachineClass", name: className } },
    status: withPhase(reached, "Terminating", at),
  };
}

/** The Node as that of a Machine that is being deleted, so that the stages of a deletion decide about it. */
function leavingSnapshot(
  machine: Machine,
  node: Node,
  resolved: ResolvedClass,
  { context, memory, settings }: OrphanNodeSources,
): MachineSnapshot {
  const { name, uid = "" } = node.metadata;
  const { pods, attachments } = context.target.caches;
  return {
    machine,
    isReadable: true,
    problems: [],
    classView: resolved.view,
    inputs: resolved.inputs,
    hasTarget: true,
    node,
    link: {
      match: "same",
      competingMachines: [],
      foreignNode: undefined,
      clockAheadMs: clockAheadOf(context),
      unreadNode: memory.nodeReads.isRecent(uid, name) ? undefined : name,
      sameNameNode: undefined,
    },
    history: noHistory,
    remediation: noRemediationHold,
    wantsToken: false,
    ...observeNodeDrain(machine, [node], resolved.view, context, memory.drains),
    pods: pods.store.byIndex("node", name),
    attachments: attachments.store.byIndex("node", name),
    reported: memory.reported.of(uid),
    operation: undefined,
    settings,
  };
}

/** Reads what a decision about a Node looks at, from caches alone. */
export function observeOrphanNode(node: Node, sources: OrphanNodeSources): ObservedOrphanNode {
  const { context, driver, drains, statuses, collects } = sources;
  const { namespace } = context;
  const { uid = "" } = node.metadata;
  const vm = collects ? vmOfNode(node, context) : undefined;
  const mark = readNodeMark(node);
  const snapshot: OrphanNodeSnapshot = {
    namespace,
    node,
    mark: mark?.machineClass.startsWith(`${namespace}/`) === true ? mark : undefined,
    vm,
    isAllowed: false,
    isDrained: drains.isDrained(uid),
    doubt: undefined,
    leaving: undefined,
  };
  const since = vm?.entry.draining;
  if (vm === undefined || since === undefined) return { snapshot };
  const facts = drains.factsOf(vm.className, vm.providerId);
  const machine = leavingMachine(node, vm, namespace, since, statuses.get(uid) ?? {});
  const resolved = observeClass(machine, context, driver);
  return {
    snapshot: {
      ...snapshot,
      isAllowed: facts !== undefined,
      doubt: findDoubt(observeMachineList(context), facts),
      leaving: leavingSnapshot(machine, node, resolved, sources),
    },
    leaving: { machine, resolved },
  };
}
