import {
  annotationKeys,
  inPlaceUpdateMessages,
  inPlaceUpdateReasons,
  labelKeys,
  machineEventReasons,
  nodeConditionTypes,
  phaseOf,
  updatedInPlace,
  updateInPlaceFailed,
  updateInPlaceTimedOut,
  updatingInPlace,
} from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import type { DrainView } from "../../drain/drain-view.ts";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { drainStatusUpdate } from "../drain/drain-status-update.ts";
import { drainNode } from "../drain/drain-node.ts";
import { isForceDrain } from "../drain/force-drain.ts";
import { conditionOf, setNodeCondition } from "../../model/node-condition.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { inPlaceUpdateTimeoutMs, phaseSince } from "../../model/timeouts.ts";
import {
  type InPlaceReason,
  inPlaceReasonOf,
  updateFailureOf,
  isInPlaceDrainDue,
  isUnderUpdate,
  nextReason,
} from "../../model/in-place-state.ts";

function messageOf(reason: InPlaceReason, node: Node): string {
  const message = inPlaceUpdateMessages[reason];
  return reason === inPlaceUpdateReasons.updateFailed ? `${message}${updateFailureOf(node)}` : message;
}

const markNode = (node: Node, reason: InPlaceReason, now: Date): readonly MachineAction[] => {
  const state = {
    type: nodeConditionTypes.inPlaceUpdate,
    status: "True",
    reason,
    message: messageOf(reason, node),
  } as const;
  return setNodeCondition(node, state, now);
};

/** The phase of the machine after a report of the agent. */
function afterReport(
  snapshot: MachineSnapshot,
  node: Node,
  next: InPlaceReason | undefined,
  now: Date,
): MachineDecision {
  const { machine } = snapshot;
  const { name } = machine.metadata;
  const outcome = next ?? inPlaceReasonOf(node);
  if (outcome === inPlaceUpdateReasons.updateSuccessful) {
    const message = updatedInPlace(name);
    const operation = { description: message, state: "Successful", type: "InPlaceUpdate" } as const;
    const status = withOperation(statusOf(machine), operation, now);
    return {
      actions: [],
      status: withPhase(status, "InPlaceUpdateSuccessful", now),
      because: [{ type: "Normal", reason: machineEventReasons.inPlaceUpdated, message }],
    };
  }
  const isNewFailure =
    outcome === inPlaceUpdateReasons.updateFailed && (next !== undefined || phaseOf(machine) === "InPlaceUpdating");
  return isNewFailure ? fail(snapshot, updateInPlaceFailed(name, updateFailureOf(node)), now) : nothing;
}

function fail({ machine }: MachineSnapshot, message: string, now: Date): MachineDecision {
  const operation = { description: message, state: "Failed", type: "InPlaceUpdate" } as const;
  const status = withOperation(statusOf(machine), operation, now);
  return {
    actions: [],
    status: withPhase(status, "InPlaceUpdateFailed", now),
    because: [{ type: "Warning", reason: machineEventReasons.inPlaceUpdateFailed, message }],
  };
}

/** An agent that does not report in time has failed; a later report still counts. */
function timeout(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine } = snapshot;
  if (phaseOf(machine) !== "InPlaceUpdating") return nothing;
  const timeoutMs = inPlaceUpdateTimeoutMs(snapshot);
  const leftMs = (phaseSince(snapshot) || 0) + timeoutMs - now.getTime();
  return leftMs >= 0
    ? { ...nothing, requeueAfterMs: leftMs + 1 }
    : fail(snapshot, updateInPlaceTimedOut(machine.metadata.name, timeoutMs), now);
}

/** Removes the report of an earlier update: it would be mistaken for a report of this one. */
function removeOldReport(node: Node): readonly MachineAction[] {
  if (node.metadata.labels?.[labelKeys.updateResult] === undefined) return [];
  const metadata = {
    labels: { [labelKeys.updateResult]: null },
    annotations: { [annotationKeys.updateFailedReason]: null },
  };
  return [{ kind: "PatchNode", name: node.metadata.name, patch: { metadata } }];
}

/** Drains a selected node; then writes the phase, and only when that is stored the condition of the node. */
function drain(snapshot: MachineSnapshot, view: DrainView, now: Date): MachineDecision {
  const { machine } = snapshot;
  const { node } = view;
  const selected = Date.parse(conditionOf(node, nodeConditionTypes.inPlaceUpdate)?.lastTransitionTime ?? "");
  // A selection without a time counts as selected now, so that nothing is forced too early.
  const startedAt = Number.isNaN(selected) ? now.getTime() : selected;
  const progress = drainNode(snapshot, { view, startedAt, isDemanded: isForceDrain(machine), cordon: true }, now);
  const oldReport = removeOldReport(node);
  const actions = [...oldReport, ...progress.actions];
  if (progress.state === "draining") {
    const { message, causes, because, ...update } = drainStatusUpdate(snapshot, progress, now);
    const requeueAfterMs = Math.min(progress.requeueAfterMs, update.requeueAfterMs);
    if (message === undefined) return { actions, requeueAfterMs, because };
    const description = { reason: "Draining", text: message, causes } as const;
    const operation = { description, state: "Processing", type: "DrainNode" } as const;
    return { actions, requeueAfterMs, because, status: withOperation(statusOf(machine), operation, now) };
  }
  // The patch of the node enqueues the machine: the next steps need a node without the old report.
  if (oldReport.length > 0) return { actions, because: [] };
  const description = updatingInPlace(machine.metadata.name);
  const status = withOperation(statusOf(machine), { description, state: "Processing", type: "InPlaceUpdate" }, now);
  const how = progress.isForced ? "forcibly drained" : "drained";
  const message = `Node ${node.metadata.name} is ${how}; the agent on it may update it`;
  return {
    actions,
    status: withPhase(status, "InPlaceUpdating", now),
    because: [{ type: "Normal", reason: machineEventReasons.inPlaceUpdating, message }],
  };
}

/**
 * The machine's side of an update in place (MCM, `pkg/util/provider/machinecontroller/machine_util.go` inPlaceUpdate): labels of the node become its condition `InPlaceUpdate`, a selected node is
 * drained, its agent is notified, and the agent's report becomes the machine's phase. Everything is decided from the cached node; nothing blocks.
 */
export function decideInPlace(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine, node, drain: view } = snapshot;
  if (node === undefined) return timeout(snapshot, now);
  if (view !== undefined && isInPlaceDrainDue(machine, node)) return drain(snapshot, view, now);
  const phase = phaseOf(machine);
  const next = nextReason(node, phase);
  const actions = next === undefined ? [] : markNode(node, next, now);
  const report = isUnderUpdate(phase) ? afterReport(snapshot, node, next, now) : nothing;
  const decision = report.status === undefined ? timeout(snapshot, now) : report;
  return { ...decision, actions: [...actions, ...decision.actions] };
}
