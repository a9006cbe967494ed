import { machineEventReasons, nodeConditionTypes, phaseOf } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import { apiTime } from "@millwright/kube";
import type { Reason } from "../../model/decision.ts";
import { blockerLines, isStuck } from "../../drain/blockers.ts";
import type { MachineAction, MachineDecision } from "../state/decision.ts";
import { drainNode } from "../drain/drain-node.ts";
import { drainRuleEvents } from "../drain/drain-rules.ts";
import { isForceDrain } from "../drain/force-drain.ts";
import { conditionOf, setNodeCondition } from "../../model/node-condition.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf } from "../../model/status-change.ts";
import { preserveTimeoutMs } from "../../model/timeouts.ts";
import type { PreserveValue } from "../../model/preserve-value.ts";
import { isDrainedForPreservation, type PreservationDrain, preservedState } from "../../model/preserved-condition.ts";
import { markNode, preservedTaint, withoutScaleDown } from "./preserved-node.ts";

/** How far the drain is, and what it does next. */
interface DrainStep {
  readonly state: PreservationDrain;
  readonly actions: readonly MachineAction[];
  readonly requeueAfterMs?: number;
  /** What stands in the way; only while it fails. */
  readonly problem?: string;
}

/** Empties the node of a Failed machine, once, without a cordon: the taint keeps new pods away, and a user's cordon stays a user's. */
function drain(snapshot: MachineSnapshot, node: Node, now: Date): DrainStep {
  if (phaseOf(snapshot.machine) !== "Failed") return { state: "none", actions: [] };
  if (isDrainedForPreservation(node)) return { state: "drained", actions: [] };
  const { drain: view, machine } = snapshot;
  if (view === undefined) return { state: "none", actions: [] };
  const taint = preservedTaint(node);
  // MCM stores no time with its taint; it counts from the phase.
  const since = Date.parse(taint?.timeAdded ?? machine.status?.currentStatus?.lastUpdateTime ?? "");
  const startedAt = taint === undefined || Number.isNaN(since) ? now.getTime() : since;
  const progress = drainNode(snapshot, { view, startedAt, isDemanded: isForceDrain(machine), cordon: false }, now);
  const { actions } = progress;
  // Only a node that is empty behind its taint stays empty; what was forced is done with.
  if (progress.state === "drained")
    return taint === undefined && !progress.isForced ? { state: "draining", actions } : { state: "drained", actions };
  const { requeueAfterMs } = progress;
  const stuck = progress.blockers.filter(isStuck);
  if (stuck.length === 0) return { state: "draining", actions, requeueAfterMs };
  return { state: "failing", actions, requeueAfterMs, problem: blockerLines(stuck).join("\n") };
}

/** What there is to tell when the node says something else than before. */
function reasonsOf({ state, problem }: DrainStep, node: Node): readonly Reason[] {
  if (state === "drained") {
    const message = `Node ${node.metadata.name} of the preserved machine is drained`;
    return [{ type: "Normal", reason: machineEventReasons.preservedNodeDrained, message }];
  }
  return problem === undefined
    ? []
    : [{ type: "Warning", reason: machineEventReasons.preservedNodeNotDrained, message: problem }];
}

/** The phase says whether new pods are welcome; an update in place or a trouble that may pass changes nothing about it. */
function taintFor({ machine }: MachineSnapshot): boolean | undefined {
  const phase = phaseOf(machine);
  return phase === "Failed" ? true : phase === "Running" ? false : undefined;
}

/**
 * Keeps a machine, step by step, each of which a restart finds as it was left (MCM, `pkg/util/provider/machinecontroller/machine.go` manageMachinePreservation): the expiry first, so that the wish is known
 * before anything is done about it; then the node: annotations for the cluster autoscaler, the taint, the drain, the condition.
 */
export function preserve(snapshot: MachineSnapshot, value: PreserveValue, now: Date): MachineDecision {
  const { machine, node } = snapshot;
  const status = statusOf(machine);
  const expiry = status.currentStatus?.preserveExpiryTime;
  if (expiry == null) {
    const preserveExpiryTime = apiTime(new Date(now.getTime() + preserveTimeoutMs(snapshot)));
    const message = `Machine is preserved until ${preserveExpiryTime}, as ${value} asks for`;
    return {
      actions: [],
      // Times of the phase are not touched: a preservation does not prolong a health timeout.
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
