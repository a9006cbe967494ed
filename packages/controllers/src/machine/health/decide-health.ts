import { formatGoDuration } from "@millwright/base";
import {
  eventsText,
  isNodeConditionType,
  labelKeys,
  type Machine,
  machineEventReasons,
  type MachineStatus,
  nodeOlderThanMachine,
  nodeUnhealthy,
  type OperationEvent,
  type OperationUpdate,
  phaseOf,
  updateResults,
  joined,
  rejoined,
  vmMissing,
} from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { isInitializationDue } from "../../model/initialization.ts";
import { interruptionOf } from "../../model/interruption.ts";
import { isLeftoverNode } from "../../model/old-node.ts";
import { isProtected, protectedFromNodeMessage } from "../../model/deletion-protection.ts";
import { conditionsToCopy, isSameHealth, unhealthyConditionsOf } from "../../model/node-health.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { decideInterruption } from "./decide-interruption.ts";
import { decideTimeouts } from "./decide-timeouts.ts";
import { stabilizationTimeMs } from "../../remediation/node-history.ts";
import { awaitedStartupOf, isFirstJoin } from "../../model/node-taints.ts";
import { severalNodesEvents, withSeveralNodes } from "./several-nodes.ts";
import { foreignNodeEvents, foreignNodeText, missingLabels } from "./node-link.ts";
import type { Reason } from "../../model/decision.ts";
import { ageMs } from "../../model/timeouts.ts";

/** A change of phase, with the description and event. */
interface Change {
  readonly phase: "Running" | "Unknown";
  readonly operation: OperationUpdate;
  readonly because: Reason;
}

/** The change to Running: the first join, or a recovery. */
function toRunning({ machine }: MachineSnapshot, node: Node, now: Date): Change {
  const isJoin = isFirstJoin(machine);
  const description = isJoin ? joined(machine.metadata.name, ageMs(machine, now)) : rejoined(machine.metadata.name);
  return {
    phase: "Running",
    operation: { description, state: "Successful", type: isJoin ? "Create" : "HealthCheck" },
    because: {
      type: "Normal",
      reason: isJoin ? machineEventReasons.nodeJoined : machineEventReasons.nodeHealthy,
      message: `Node ${node.metadata.name} is ready`,
    },
  };
}

/**
 * How long a machine took to join, from its creation. Written with the status that makes the machine Running: MCM adds
 * an annotation to that write, which the API server drops, and a separate patch would cost one more request per machine.
 */
const withJoinDuration = (status: MachineStatus, machine: Machine, now: Date): MachineStatus =>
  isFirstJoin(machine) ? { ...status, joinDuration: formatGoDuration(Math.max(0, ageMs(machine, now))) } : status;

/** Phases in which a healthy node makes the machine Running. In-place updates have their own rules. */
const canBecomeRunning: ReadonlySet<string | undefined> = new Set([
  "CrashLoopBackOff",
  "Pending",
  "Unknown",
  "Failed",
  "InPlaceUpdateSuccessful",
]);

/** A machine whose in-place update failed does not recover just because its node is as healthy as before. */
const hasFailedToUpdate = ({ status }: Machine, { metadata }: Node): boolean =>
  status?.lastOperation?.type === "InPlaceUpdate" &&
  metadata.labels?.[labelKeys.updateResult] !== updateResults.successful;

/** Whether no id links the machine to the node, and another machine has precedence for it. */
const isNodeDisputed = ({ link }: MachineSnapshot): boolean =>
  link.match !== "same" && link.competingMachines.length > 0;

function toUnknown(description: OperationEvent, reason: string): Change {
  return {
    phase: "Unknown",
    operation: { description, state: "Processing", type: "HealthCheck" },
    because: { type: "Warning", reason, message: eventsText(description) },
  };
}

/** The change of phase for the health of the node, if any. `bad` is empty for a healthy node. */
function changeOf(snapshot: MachineSnapshot, bad: readonly string[], now: Date): Change | undefined {
  const { machine, node, operation } = snapshot;
  const { name, labels } = machine.metadata;
  const phase = phaseOf(machine);
  if (node !== undefined && bad.length === 0) {
    if (!canBecomeRunning.has(phase) || awaitedStartupOf(machine, node) !== undefined) return undefined;
    if (isInitializationDue(machine, operation) || isNodeDisputed(snapshot)) return undefined;
    return phase === "Failed" && hasFailedToUpdate(machine, node) ? undefined : toRunning(snapshot, node, now);
  }
  if (phase !== "Running") return undefined;
  if (snapshot.isVmMissing === true)
    return toUnknown(vmMissing(name, machine.spec.providerID), machineEventReasons.vmMissing);
  if (node !== undefined) return toUnknown(nodeUnhealthy(name, bad.join(", ")), machineEventReasons.nodeUnhealthy);
  // A machine that never had a node is not missing one.
  if (!(machine.status?.conditions ?? []).some(({ type }) => isNodeConditionType(type))) return undefined;
  const foreign = foreignNodeText(snapshot);
  return foreign === undefined
    ? toUnknown(
        { reason: "NodeMissing", machine: name, nodeName: labels?.[labelKeys.node] ?? "" },
        machineEventReasons.nodeMissing,
      )
    : toUnknown(foreign, machineEventReasons.providerIdMismatch);
}

/** Milliseconds for which the node of a flapping machine must still be stable before its status is written. */
function unsettledMs({ machine, history, settings }: MachineSnapshot, now: Date): number {
  const phase = phaseOf(machine);
  if (phase !== "Unknown" && phase !== "Failed") return 0;
  const stabilizationMs = stabilizationTimeMs(history, settings);
  return stabilizationMs === 0
    ? 0
    : Math.max(0, (history.steadySince ?? now.getTime()) + stabilizationMs - now.getTime());
}

/** The status with the conditions of the node in place of their copies, if their health changed. */
function withConditions(
  status: MachineStatus,
  { machine, node, settings }: Pick<MachineSnapshot, "machine" | "node" | "settings">,
): MachineStatus {
  const stored = status.conditions ?? [];
  const conditions = node === undefined ? [] : conditionsToCopy(machine, node, settings);
  const copies = stored.filter(({ type }) => isNodeConditionType(type));
  if (node === undefined || isSameHealth(copies, conditions)) return status;
  return { ...status, conditions: [...conditions, ...stored.filter(({ type }) => !isNodeConditionType(type))] };
}

/** A machine whose node is being deleted is deleted, too: users replace machines this way (MCM, `pkg/util/provider/machinecontroller/node.go` triggerMachineDeletion). */
function deleteWithNode({ machine }: MachineSnapshot, node: Node): MachineDecision {
  const message = `Node ${node.metadata.name} is being deleted; deleting the machine as well`;
  return {
    actions: [{ kind: "DeleteMachine", uid: machine.metadata.uid ?? "" }],
    because: [{ type: "Normal", reason: machineEventReasons.nodeDeleted, message }],
  };
}

/** A protected machine is not deleted with its node; reported once. */
function keptWithoutNode({ machine, reported }: MachineSnapshot, node: Node): readonly Reason[] {
  const reason = machineEventReasons.deletionPaused;
  const message = protectedFromNodeMessage(machine.metadata.name, node.metadata.name);
  return reported.get(reason) === message ? [] : [{ type: "Warning", reason, message }];
}

/** The patch with the labels that the machine lacks; conditional on the UID. */
function labelPatches(snapshot: MachineSnapshot): readonly MachineAction[] {
  const labels = missingLabels(snapshot);
  if (Object.keys(labels).length === 0) return [];
  const { uid } = snapshot.machine.metadata;
  return [{ kind: "PatchMachine", patch: { metadata: { ...(uid === undefined ? {} : { uid }), labels } } }];
}

/** Whether the machine waits for its first join, no id links the node to it, and the node is left over from before the machine. */
const isUnproved = ({ machine, link }: MachineSnapshot, node: Node): boolean =>
  link.match !== "same" && isFirstJoin(machine) && isLeftoverNode(node, machine, link.clockAheadMs);

/** Heartbeats enqueue no machine. A kubelet reports at least every five minutes. Milliseconds. */
const REPORT_CHECK_MS = 30_000;

/** A node that is left over proves nothing, whatever its conditions: the machine is as without node until the kubelet reports. */
function waitForReport(snapshot: MachineSnapshot, node: Node, now: Date): MachineDecision {
  const { machine } = snapshot;
  const status = statusOf(machine);
  const isPending = phaseOf(machine) === "Pending";
  const description = nodeOlderThanMachine(machine.metadata.name, node.metadata.name);
  const operation = { description, state: "Processing", type: "Create" } as const;
  const reported = isPending ? withOperation(status, operation, now) : status;
  const decision = decideTimeouts({ ...snapshot, node: undefined }, reported, ["the node is missing"], now);
  const isOver = decision.status !== undefined && phaseOf({ status: decision.status }) !== phaseOf(machine);
  if (isOver) return decision;
  return { ...decision, requeueAfterMs: Math.min(decision.requeueAfterMs ?? REPORT_CHECK_MS, REPORT_CHECK_MS) };
}

/**
 * Follows the node of a machine (MCM, `pkg/util/provider/machinecontroller/machine_util.go` reconcileMachineHealth): its conditions are copied, a healthy node makes the machine Running, an unhealthy or missing
 * one makes a Running machine Unknown, and one that does not join or recover in time makes it Failed.
 */
export function decideHealth(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine, node, hasTarget, remediation } = snapshot;
  if (!hasTarget) return nothing;
  if (node !== undefined && isUnproved(snapshot, node)) return waitForReport(snapshot, node, now);
  const isNodeDeleted = node?.metadata.deletionTimestamp != null;
  if (isNodeDeleted && !isProtected(machine)) return deleteWithNode(snapshot, node);
  const followed = isNodeDisputed(snapshot)
    ? followNode(snapshot, now)
    : (decideInterruption(snapshot, now) ?? followNode(snapshot, now));
  const decision = isNodeDeleted
    ? { ...followed, because: [...keptWithoutNode(snapshot, node), ...followed.because] }
    : followed;
  const isReplaced = decision.actions.some(({ kind }) => kind === "StartRemediation");
  return !remediation.isInFlight || isReplaced
    ? decision
    : {
        ...decision,
        actions: [{ kind: "CancelRemediation", uid: machine.metadata.uid ?? "" }, ...decision.actions],
      };
}

/** Why the machine is unhealthy, as short texts. */
function problemsOf({ machine, node, settings, isVmMissing = false }: MachineSnapshot): readonly string[] {
  return [
    ...(node === undefined ? ["the node is missing"] : unhealthyConditionsOf(machine, node, settings)),
    ...(interruptionOf(node) === undefined ? [] : ["the cloud reclaims the VM"]),
    ...(isVmMissing ? ["the VM does not exist"] : []),
  ];
}

function followNode(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine } = snapshot;
  const before = statusOf(machine);
  const bad = problemsOf(snapshot);
  const unsettled = unsettledMs(snapshot, now);
  const status = withSeveralNodes(unsettled > 0 ? before : withConditions(before, snapshot), snapshot, now);
  const several = severalNodesEvents(before, snapshot);

  const change = unsettled > 0 ? undefined : changeOf(snapshot, bad, now);
  const patches = labelPatches(snapshot);
  if (change !== undefined) {
    const timed = change.phase === "Running" ? withJoinDuration(status, machine, now) : status;
    return {
      actions: patches,
      status: withPhase(withOperation(timed, change.operation, now), change.phase, now),
      because: [change.because, ...several],
    };
  }
  const foreign = phaseOf(machine) === "Pending" ? foreignNodeText(snapshot) : undefined;
  const reported =
    foreign === undefined
      ? status
      : withOperation(status, { description: foreign, state: "Processing", type: "Create" }, now);
  const timeouts = decideTimeouts(snapshot, reported, bad, now);
  const requeueAfterMs = Math.min(
    timeouts.requeueAfterMs ?? Number.POSITIVE_INFINITY,
    unsettled > 0 ? unsettled : Number.POSITIVE_INFINITY,
  );
  return {
    ...timeouts,
    actions: [...timeouts.actions, ...patches],
    because: [...(foreign === undefined ? [] : foreignNodeEvents(before, foreign)), ...several, ...timeouts.because],
    ...(Number.isFinite(requeueAfterMs) ? { requeueAfterMs } : {}),
  };
}
