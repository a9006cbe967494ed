import { annotationKeys, machineEventReasons, nodeConditionTypes, phaseOf } from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import { apiTime } from "@millwright/kube";
import type { Reason } from "../../model/decision.ts";
import { blockerLines, isStuck } from "../../drain/blockers.ts";
import type { MachineAction, MachineDecision } from "../state/decision.ts";
import { drainNode } from "../drain/drain-node.ts";
import { drainRuleEvents } from "../drain/drain-status-update.ts";
import { isForceDrain } from "../drain/force-drain.ts";
import { conditionOf, setNodeCondition } from "../../model/node-condition.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf } from "../../model/status-change.ts";
import { preserveTimeoutMs } from "../../model/timeouts.ts";
import {
  type PreserveValue,
  isDrainedForPreservation,
  type PreservationDrain,
  preservedState,
} from "../../model/preserve-value.ts";
import { markNode, preservedTaint, withoutScaleDown } from "./preserved-node.ts";

/** Progress of the drain, and its next actions. */
interface DrainStep {
  readonly state: PreservationDrain;
  readonly actions: readonly MachineAction[];
  readonly requeueAfterMs?: number;
  /** What blocks the drain; only while it is failing. */
  readonly problem?: string;
}

/** Drains the node of a Failed machine, once, without a cordon: the taint keeps new pods off, and a user's cordon is kept. */
function drain(snapshot: MachineSnapshot, node: Node, now: Date): DrainStep {
  if (phaseOf(snapshot.machine) !== "Failed") return { state: "none", actions: [] };
  if (isDrainedForPreservation(node)) return { state: "drained", actions: [] };
  const { drain: view, machine } = snapshot;
  if (view === undefined) return { state: "none", actions: [] };
  const taint = preservedTaint(node);
  // MCM stores no time with its taint; then the phase's time counts.
  const since = Date.parse(taint?.timeAdded ?? machine.status?.currentStatus?.lastUpdateTime ?? "");
  const startedAt = taint === undefined || Number.isNaN(since) ? now.getTime() : since;
  const progress = drainNode(snapshot, { view, startedAt, isDemanded: isForceDrain(machine), cordon: false }, now);
  const { actions } = progress;
  // Only a node that is empty behind its taint stays empty; after a forced drain nothing is left to do.
  if (progress.state === "drained")
    return taint === undefined && !progress.isForced ? { state: "draining", actions } : { state: "drained", actions };
  const { requeueAfterMs } = progress;
  const stuck = progress.blockers.filter(isStuck);
  if (stuck.length === 0) return { state: "draining", actions, requeueAfterMs };
  return { state: "failing", actions, requeueAfterMs, problem: blockerLines(stuck).join("\n") };
}

/** Events when the condition of the node changes. */
function reasonsOf({ state, problem }: DrainStep, node: Node): readonly Reason[] {
  if (state === "drained") {
    const message = `Node ${node.metadata.name} of the preserved machine is drained`;
    return [{ type: "Normal", reason: machineEventReasons.preservedNodeDrained, message }];
  }
  return problem === undefined
    ? []
    : [{ type: "Warning", reason: machineEventReasons.preservedNodeNotDrained, message: problem }];
}

/** Whether the phase requires the taint; in-place updates and temporary failures do not change it. */
function taintFor({ machine }: MachineSnapshot): boolean | undefined {
  const phase = phaseOf(machine);
  return phase === "Failed" ? true : phase === "Running" ? false : undefined;
}

/**
 * Preserves a machine in steps that survive a restart (MCM, `pkg/util/provider/machinecontroller/machine.go` manageMachinePreservation): the expiry first, so that the preservation is recorded
 * before its effects; then the node: annotations for the cluster autoscaler, the taint, the drain, the condition.
 */
export function preserve(snapshot: MachineSnapshot, value: PreserveValue, now: Date): MachineDecision {
  const { machine, node } = snapshot;
  const status = statusOf(machine);
  const expiry = status.currentStatus?.preserveExpiryTime;
  if (expiry == null) {
    const preserveExpiryTime = apiTime(new Date(now.getTime() + preserveTimeoutMs(snapshot)));
    const message = `Machine is preserved until ${preserveExpiryTime}, as requested by ${annotationKeys.preserve}=${value}`;
    return {
      actions: [],
      // The time of the phase is kept: a preservation does not extend a health timeout.
      status: { ...status, currentStatus: { ...status.currentStatus, preserveExpiryTime } },
      because: [{ type: "Normal", reason: machineEventReasons.preserved, message }],
    };
  }
  const untilExpiry = Date.parse(expiry) - now.getTime();
  if (node === undefined) return { actions: [], because: [], requeueAfterMs: untilExpiry };
  const step = drain(snapshot, node, now);
  const state = preservedState(step.state, value, expiry);
  const conditionPatch = setNodeCondition(node, state, now);
  const wasReported = conditionOf(node, nodeConditionTypes.preserved)?.message === state.message;
  return {
    actions: [
      ...markNode(node, { annotations: withoutScaleDown(node), isTainted: taintFor(snapshot) }, now),
      ...step.actions,
      ...conditionPatch,
    ],
    because: [...drainRuleEvents(snapshot), ...(wasReported ? [] : reasonsOf(step, node))],
    requeueAfterMs: Math.min(untilExpiry, step.requeueAfterMs ?? Number.POSITIVE_INFINITY),
  };
}
