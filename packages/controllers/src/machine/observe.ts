import { type Machine, validateMachine } from "@millwright/core/machine-api";
import type { TargetCaches } from "../cluster/caches.ts";
import type { ResolvedClass } from "../cluster/class-view.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { findVmHolder } from "../cluster/find-vm-holder.ts";
import { createMatchNode } from "../cluster/node-candidates.ts";
import { isTargetLost } from "../cluster/unread-target.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import { type Guard, judge, type MissingFacts } from "../model/hold.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import type { OperationView } from "../model/operation.ts";
import { isReadyNode } from "../model/node-condition.ts";
import { isDeleting } from "../model/phase.ts";
import { claimedVm, type VmHolder, type VmOwners } from "../model/vm-holder.ts";
import type { RemediationWatch } from "../remediation/remediation-watch.ts";
import type { MissingVms } from "../vm-lists/missing-vms.ts";
import { absentNodeOf } from "./deletion/absent-node.ts";
import { isDraining } from "./drain/draining.ts";
import { type DrainMemory, observeNodeDrain } from "./drain/observe-node-drain.ts";
import { joinsAutoscaled, joinsInRollout } from "./node-sync/kept-from-scaler.ts";
import { missingOfClass, observeClass, wantsToken } from "./observe-class.ts";
import { observeNode } from "./observe-node.ts";
import type { Operations } from "./operations/operations.ts";
import type { NodeReads } from "./state/node-reads.ts";
import type { ReportedStates } from "./state/reported-problems.ts";
import type { RestoredTaintStates } from "./state/restored-taints.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";

/** Sources of a machine's snapshot. */
export interface MachineSources {
  readonly context: ControllerContext;
  /** In their order. */
  readonly guards: readonly Guard<Machine>[];
  readonly operations: Operations;
  readonly reported: ReportedStates;
  readonly nodeReads: Pick<NodeReads, "isRecent">;
  readonly restoredTaints: Pick<RestoredTaintStates, "of">;
  readonly remediations: Pick<RemediationWatch, "read">;
  readonly driver: MachineDriver;
  /** Absent: nothing lists VMs. */
  readonly missingVms?: Pick<MissingVms, "has" | "doubtOf"> | undefined;
  readonly vmOwners?: Pick<VmOwners, "ownerOf"> | undefined;
  readonly settings: MachineSettings;
  /** Whether scale-down by the cluster-autoscaler is disabled on the nodes of a rollout. Default: true. */
  readonly disablesScaleDown?: boolean | undefined;
  readonly drains: DrainMemory;
}

/** What a reconcile has read. */
export interface ObservedMachine {
  readonly snapshot: MachineSnapshot;
  readonly resolved: ResolvedClass;
  /** What has to be read first; with any of it, the snapshot is of no use for a decision. */
  readonly missing: readonly MissingFacts[];
}

/** The other Machine to which the VM of a machine belongs. */
export const vmHolderOf = (
  machine: Machine,
  operation: OperationView | undefined,
  { context, vmOwners }: Pick<MachineSources, "context" | "vmOwners">,
): VmHolder | undefined =>
  findVmHolder(
    machine,
    claimedVm(machine, operation),
    { ...context, vmOwners },
    createMatchNode(context.caches, context.namespace, context.matchVm),
  );

/** What uses a node that is to be deleted. */
function usesOf(
  name: string | undefined,
  target: TargetCaches | undefined,
): Pick<MachineSnapshot, "pods" | "attachments"> {
  if (name === undefined || target === undefined) return { pods: [], attachments: [] };
  return { pods: target.pods.store.byIndex("node", name), attachments: target.attachments.store.byIndex("node", name) };
}

/** Reads everything that a decision about the machine looks at, from caches alone. */
export function observeMachine(machine: Machine, sources: MachineSources): ObservedMachine {
  const { context, missingVms, nodeReads, settings } = sources;
  const { uid = "" } = machine.metadata;
  const target = context.target?.caches;
  const resolved = observeClass(machine, context, sources.driver);
  const operation = sources.operations.get(uid);
  const holder = vmHolderOf(machine, operation, sources);
  const match = createMatchNode(context.caches, context.namespace, context.matchVm);
  const isVmOfOther = holder !== undefined;
  const { node, otherNodes, link, isDisputed } = observeNode(machine, {
    context,
    match,
    nodeReads,
    operation,
    isVmOfOther,
  });
  const isVmMissing = missingVms?.has(machine) ?? false;
  // Pods may be left of a node that is absent.
  const nodeName = node?.metadata.name ?? (isVmOfOther ? undefined : absentNodeOf({ machine, node, link }));
  // No kubelet ends the pods of another node that is not ready.
  const drained = !isDisputed && isDraining(machine, node) ? [node, ...otherNodes.filter(isReadyNode)] : [];
  const shapeProblems = shapeProblemsOf(machine);
  const { hold, missing } = judge(sources.guards, machine);
  const snapshot: MachineSnapshot = {
    machine,
    isReadable: shapeProblems.length === 0,
    problems: shapeProblems.length > 0 ? shapeProblems : validateMachine(machine),
    hold,
    classView: resolved.view,
    inputs: resolved.inputs,
    hasTarget: target !== undefined,
    isTargetLost: isDeleting(machine) && isTargetLost(context, settings.unreachableAfterMs),
    node,
    otherNodes: otherNodes.map((other) => ({
      node: other,
      ...usesOf(isDeleting(machine) ? other.metadata.name : undefined, target),
    })),
    link,
    ...sources.remediations.read(machine, node, isVmMissing),
    holder,
    isVmMissing,
    listDoubt: missingVms?.doubtOf(machine.spec.class?.name ?? ""),
    wantsToken: target !== undefined && wantsToken(machine, resolved.secret),
    ...observeNodeDrain(machine, drained, resolved.view, context, sources.drains),
    ...usesOf(isDeleting(machine) ? nodeName : undefined, target),
    reported: sources.reported.of(uid),
    nodeSync: {
      isKeptFromScaler: joinsInRollout(machine, node, context, sources.disablesScaleDown),
      isAutoscaled: joinsAutoscaled(machine, node, context),
      restoredTaints: sources.restoredTaints.of(uid),
    },
    operation,
    settings,
  };
  return { snapshot, resolved, missing: [...missingOfClass(machine, resolved, context), ...missing] };
}
