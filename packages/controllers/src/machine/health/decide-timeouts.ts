import {
  waitingForNode,
  eventsText,
  healthTimedOut,
  healthTimeoutReset,
  type HoldEvent,
  isReported,
  joinTimedOut,
  labelKeys,
  machineEventReasons,
  type MachineStatus,
  nodeConditionTypes,
  type OperationEvent,
  type OperationUpdate,
  phaseOf,
  readOperation,
  unknownNodeName,
  updateResults,
} from "@millwright/core/machine-api";
import { apiTime, cutText, findCondition } from "@millwright/kube";
import type { Reason } from "../../model/decision.ts";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { hasRemediationBudget, waitsForQuota } from "../../model/remediation-budget.ts";
import { inPlaceReasonOf, updateFailureOf } from "../../model/in-place-state.ts";
import { unhealthyConditionsOf } from "../../model/node-health.ts";
import type { Node } from "../../model/node-objects.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { awaitedStartupOf } from "../../model/node-taints.ts";
import { withOperation, withPhase, withText } from "../../model/status-change.ts";
import { creationDeadline, creationTimeoutMs, healthTimeoutMs, phaseSince } from "../../model/timeouts.ts";

/** Interval in which a machine whose timeout has passed waits for a response of the API servers, milliseconds. */
const PROOF_MS = 1_000;

/** The timeouts of a machine whose node is not healthy. */
export function decideTimeouts(
  snapshot: MachineSnapshot,
  status: MachineStatus,
  bad: readonly string[],
  now: Date,
): MachineDecision {
  const phase = phaseOf(snapshot.machine);
  if (phase === "Pending") return joinTimeout(snapshot, status, now);
  const isUnhealthy =
    ((phase === "Unknown" || phase === "InPlaceUpdateSuccessful") && bad.length > 0) ||
    // The phase itself is unhealthy, whatever the conditions of the node, until the agent reports success.
    (phase === "InPlaceUpdateFailed" &&
      snapshot.node?.metadata.labels?.[labelKeys.updateResult] !== updateResults.successful);
  return isUnhealthy ? healthTimeout(snapshot, status, bad, now) : { ...nothing, status };
}

/** What a machine waits for whose node has reported; `undefined` before, and when nothing of the node is missing. */
function awaitedOf({ machine, node, link, settings }: MachineSnapshot): string | undefined {
  const ready = findCondition(node?.status?.conditions, nodeConditionTypes.ready);
  // A node that reports nothing yet is as good as none: another text would cost a write of its own.
  if (node === undefined || ready === undefined || link.competingMachines.length > 0) return undefined;
  if (ready.status !== "True")
    return `its Node to become ready: ${cutText(ready.reason ?? `Ready is ${ready.status}`)}`;
  const bad = unhealthyConditionsOf(machine, node, settings);
  return bad.length > 0 ? `its Node to become healthy: ${bad.join(", ")}` : awaitedStartupOf(machine, node);
}

/**
 * A machine whose node did not join in time becomes Failed, when the remediation budget of its group allows it; its set creates another one. The timeout restarts
 * after a loss of connectivity: no node could join meanwhile.
 */
export function joinTimeout(snapshot: MachineSnapshot, status: MachineStatus, now: Date): MachineDecision {
  const { isLost, regainedAt = 0 } = snapshot.remediation.connectivity;
  const machine = snapshot.machine.metadata.name;
  const unseen = { reason: "JoinUnknown", machine } as const;
  // Restored connectivity enqueues the machine.
  if (isLost) return { ...nothing, status: withText(status, unseen, now) };
  const deadline = Math.max(creationDeadline(snapshot), regainedAt + creationTimeoutMs(snapshot));
  const leftMs = deadline - now.getTime();
  const { reason } = readOperation(status);
  const isOutdated = reason === "JoinUnknown" || reason === "JoinOnHold";
  const lacking = awaitedOf(snapshot);
  const isFollowed = status.lastOperation?.state === "Processing" && lacking !== undefined;
  const reported = isOutdated || isFollowed ? withText(status, waitingForNode(lacking), now) : status;
  if (leftMs >= 0) return { ...nothing, status: reported, requeueAfterMs: leftMs + 1 };
  if (snapshot.remediation.connectivity.isUnproven === true) return { ...nothing, status, requeueAfterMs: PROOF_MS };
  // A machine that never served is not kept for one that will not come for now; one that may still recover is.
  const peers = snapshot.remediation.peers.filter((peer) => !waitsForQuota(peer));
  const onHold = holdOf({ ...snapshot, remediation: { ...snapshot.remediation, peers } }, now);
  if (onHold !== undefined) {
    const event = { reason: "JoinOnHold", machine, timeoutMs: creationTimeoutMs(snapshot), hold: onHold.hold } as const;
    return heldBack(status, event, onHold, now);
  }
  const { name, labels } = snapshot.machine.metadata;
  const timedOut = joinTimedOut(name, creationTimeoutMs(snapshot));
  const message = [
    timedOut,
    ...(labels?.[labelKeys.node] === undefined ? [unknownNodeName()] : []),
    ...(lacking === undefined ? [] : [`It still waits for ${lacking}`]),
  ].join(" ");
  const operation: OperationUpdate = {
    description: message,
    state: "Failed",
    type: status.lastOperation?.type ?? "Create",
    ...(status.lastOperation?.errorCode === undefined ? {} : { errorCode: status.lastOperation.errorCode }),
  };
  const { uid = "" } = snapshot.machine.metadata;
  return {
    // The first action: the remediation budget is used before anything else runs.
    actions: [{ kind: "StartRemediation", uid, group: snapshot.remediation.group }],
    status: withPhase(withOperation(status, operation, now), "Failed", now),
    because: [{ type: "Warning", reason: machineEventReasons.joinTimedOut, message }],
  };
}

/** What the agent reported, as text among those of conditions. */
function failedUpdateText(node: Node | undefined): string {
  const failure = updateFailureOf(node);
  return `InPlaceUpdate is ${inPlaceReasonOf(node) ?? "not reported"}${failure === "" ? "" : ` (${failure})`}`;
}

/** The status with the time of its phase reset. */
const withClockReset = (status: MachineStatus, now: Date): MachineStatus => ({
  ...status,
  currentStatus: { ...status.currentStatus, lastUpdateTime: apiTime(now) },
});

/**
 * A machine that has been unhealthy for the health timeout becomes Failed, which its set replaces (rows 11, 18 and 21 of the phase
 * transitions). The timeout counts from the last change of the phase that this process observed; it restarts when the node was
 * healthy in between, and after a loss of connectivity.
 */
function healthTimeout(
  snapshot: MachineSnapshot,
  status: MachineStatus,
  bad: readonly string[],
  now: Date,
): MachineDecision {
  const { machine, history, remediation } = snapshot;
  const { name, uid = "" } = machine.metadata;
  if (machine.spec.disableHealthTimeout === true) return { ...nothing, status };
  if (Number.isNaN(Date.parse(machine.status?.currentStatus?.lastUpdateTime ?? "")))
    return { ...nothing, status: withClockReset(status, now) };
  const since = phaseSince(snapshot);
  const { regainedAt = 0, isLost } = remediation.connectivity;
  // Stored times are in whole seconds: within the second in which it was stored, a reset would change nothing.
  const isStored = apiTime(now) === machine.status?.currentStatus?.lastUpdateTime;
  if (!isLost && !isStored && Math.floor(regainedAt / 1000) * 1000 > since) {
    const message = healthTimeoutReset(name);
    return {
      actions: [],
      status: withClockReset(withText(status, message, now), now),
      because: [{ type: "Normal", reason: machineEventReasons.healthTimeoutReset, message }],
    };
  }
  const timeoutMs = healthTimeoutMs(snapshot);
  const leftMs = Math.max(since, isLost ? 0 : regainedAt, history.healthyUntil ?? 0) + timeoutMs - now.getTime();
  if (leftMs >= 0) return { ...nothing, status, requeueAfterMs: leftMs + 1 };

  if (remediation.connectivity.isUnproven === true && !isLost) return { ...nothing, status, requeueAfterMs: PROOF_MS };
  const onHold = holdOf(snapshot, now);
  if (onHold !== undefined) {
    const event = { reason: "RemediationOnHold", machine: name, timeoutMs, hold: onHold.hold } as const;
    return heldBack(status, event, onHold, now);
  }
  const causes = phaseOf(machine) === "InPlaceUpdateFailed" ? [failedUpdateText(snapshot.node), ...bad] : bad;
  const message = healthTimedOut(name, timeoutMs, causes.join(", "));
  // The first action: the remediation budget is used before anything else runs.
  const actions: readonly MachineAction[] = [{ kind: "StartRemediation", uid, group: remediation.group }];
  return {
    actions,
    status: withPhase(withText(status, message, now, "Failed"), "Failed", now),
    because: [{ type: "Warning", reason: machineEventReasons.healthTimedOut, message }],
  };
}

/** Why a remediation is on hold. */
interface OnHold {
  readonly hold: HoldEvent;
  readonly because: Pick<Reason, "type" | "reason">;
  readonly requeueAfterMs?: number;
}

/** The machine keeps its phase, and the message is reported once. */
const heldBack = (
  status: MachineStatus,
  event: OperationEvent,
  { because, requeueAfterMs }: OnHold,
  now: Date,
): MachineDecision => ({
  actions: [],
  status: withText(status, event, now),
  because: isReported(status, event) ? [] : [{ ...because, message: eventsText(event) }],
  ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
});

/** Why the machine is not remediated, the most severe cause first; `undefined` when it may be. */
function holdOf({ remediation, settings }: MachineSnapshot, now: Date): OnHold | undefined {
  const suspended = { type: "Warning", reason: machineEventReasons.remediationPaused } as const;
  // Restored connectivity enqueues the machine.
  if (remediation.connectivity.isLost) return { hold: { by: "ApiServerUnreachable" }, because: suspended };
  if (remediation.outage !== undefined) {
    const { zone, until } = remediation.outage;
    const hold: HoldEvent = zone === undefined ? { by: "Outage" } : { by: "ZoneOutage", zone };
    return { hold, because: suspended, requeueAfterMs: Math.max(0, until - now.getTime()) + 1 };
  }
  if (hasRemediationBudget(remediation, settings.nodeConditions, now)) return undefined;
  const { group, note } = remediation;
  return {
    hold: { by: "Budget", group, note },
    because: { type: "Normal", reason: machineEventReasons.remediationDeferred },
  };
}
