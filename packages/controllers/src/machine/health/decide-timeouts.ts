import {
  creatingMachine,
  healthTimedOut,
  healthTimeoutReset,
  joinTimedOut,
  joinUnknown,
  labelKeys,
  machineEventReasons,
  type MachineStatus,
  phaseOf,
  remediationOnHold,
  remediationHolds,
  updateResults,
} from "@millwright/core";
import { apiTime } from "@millwright/kube";
import type { Reason } from "../../model/decision.ts";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { hasRemediationBudget } from "../../model/remediation-budget.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { type OperationText, withOperation, withPhase, withText } from "../../model/status-change.ts";
import { creationDeadline, creationTimeoutMs, healthTimeoutMs } from "../../model/timeouts.ts";

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

/**
 * A machine whose node did not join in time becomes Failed; its set creates another one. The timeout restarts after a loss of connectivity: no node
 * could join meanwhile.
 */
function joinTimeout(snapshot: MachineSnapshot, status: MachineStatus, now: Date): MachineDecision {
  const { isLost, regainedAt = 0 } = snapshot.remediation.connectivity;
  const unseen = joinUnknown(snapshot.machine.metadata.name);
  // Restored connectivity enqueues the machine.
  if (isLost) return { ...nothing, status: withText(status, unseen, now) };
  const deadline = Math.max(creationDeadline(snapshot), regainedAt + creationTimeoutMs(snapshot));
  const leftMs = deadline - now.getTime();
  const wasUnseen = status.lastOperation?.description === unseen;
  const reported = wasUnseen ? withText(status, creatingMachine(), now) : status;
  if (leftMs >= 0) return { ...nothing, status: reported, requeueAfterMs: leftMs + 1 };
  const message = joinTimedOut(snapshot.machine.metadata.name, creationTimeoutMs(snapshot));
  const operation: OperationText = {
    description: message,
    state: "Failed",
    type: status.lastOperation?.type ?? "Create",
    ...(status.lastOperation?.errorCode === undefined ? {} : { errorCode: status.lastOperation.errorCode }),
  };
  return {
    actions: [],
    status: withPhase(withOperation(status, operation, now), "Failed", now),
    because: [{ type: "Warning", reason: machineEventReasons.joinTimedOut, message }],
  };
}

/** The status with the time of its phase reset. */
const withClockReset = (status: MachineStatus, now: Date): MachineStatus => ({
  ...status,
  currentStatus: { ...status.currentStatus, lastUpdateTime: apiTime(now) },
});

/**
 * A machine that has been unhealthy for the health timeout becomes Failed, which its set replaces (rows 11, 18 and 21 of the phase
 * transitions). The timeout counts from the last change of the phase; it restarts when the node was
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
  const since = Date.parse(machine.status?.currentStatus?.lastUpdateTime ?? "");
  if (Number.isNaN(since)) return { ...nothing, status: withClockReset(status, now) };
  const { regainedAt = 0, isLost } = remediation.connectivity;
  // Stored times are in whole seconds.
  if (!isLost && Math.floor(regainedAt / 1000) * 1000 > since) {
    const message = healthTimeoutReset(name);
    return {
      actions: [],
      status: withClockReset(withText(status, message, now), now),
      because: [{ type: "Normal", reason: machineEventReasons.healthTimeoutReset, message }],
    };
  }
  const timeoutMs = healthTimeoutMs(snapshot);
  const leftMs = Math.max(since, history.healthyUntil ?? 0) + timeoutMs - now.getTime();
  if (leftMs >= 0) return { ...nothing, status, requeueAfterMs: leftMs + 1 };

  const hold = holdOf(snapshot, now);
  if (hold !== undefined) {
    const message = remediationOnHold(name, timeoutMs, hold.text);
    const isRelevantChange = status.lastOperation?.description !== message;
    return {
      actions: [],
      status: withText(status, message, now),
      because: isRelevantChange ? [{ ...hold.because, message }] : [],
      ...(hold.requeueAfterMs === undefined ? {} : { requeueAfterMs: hold.requeueAfterMs }),
    };
  }
  const message = healthTimedOut(name, timeoutMs, bad.join(", "));
  // The first action: the remediation budget is used before anything else runs.
  const actions: readonly MachineAction[] = [{ kind: "StartRemediation", uid, group: remediation.group }];
  return {
    actions,
    status: withPhase(withText(status, message, now, "Failed"), "Failed", now),
    because: [{ type: "Warning", reason: machineEventReasons.healthTimedOut, message }],
  };
}

/** Why a remediation is on hold. */
interface Hold {
  readonly text: string;
  readonly because: Pick<Reason, "type" | "reason">;
  readonly requeueAfterMs?: number;
}

/** Why the machine is not remediated, the most severe cause first; `undefined` when it may be. */
function holdOf({ remediation, settings }: MachineSnapshot, now: Date): Hold | undefined {
  const suspended = { type: "Warning", reason: machineEventReasons.remediationPaused } as const;
  // Restored connectivity enqueues the machine.
  if (remediation.connectivity.isLost) return { text: remediationHolds.unreachable(), because: suspended };
  if (remediation.outage !== undefined) {
    const { zone, until } = remediation.outage;
    const text = zone === undefined ? remediationHolds.outage() : remediationHolds.zoneOutage(zone);
    return { text, because: suspended, requeueAfterMs: Math.max(0, until - now.getTime()) + 1 };
  }
  if (hasRemediationBudget(remediation, settings.nodeConditions, now)) return undefined;
  const { group, note } = remediation;
  return {
    text: note === undefined ? remediationHolds.gate(group) : remediationHolds.gateWithNote(group, note),
    because: { type: "Normal", reason: machineEventReasons.remediationDeferred },
  };
}
