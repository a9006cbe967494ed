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

/** Ways to end the wait for a node that is not healthy. */
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
    // The phase itself is the trouble, whatever the node says, until its agent reports that it came right after all.
    (phase === "InPlaceUpdateFailed" &&
      snapshot.node?.metadata.labels?.[labelKeys.updateResult] !== updateResults.successful);
  return isUnhealthy ? healthTimeout(snapshot, status, bad, now) : { ...nothing, status };
}

/**
 * A machine whose node did not join in time is given up; its set makes another one. The time starts anew when nobody could see nodes for a while: none
 * could join then.
 */
function joinTimeout(snapshot: MachineSnapshot, status: MachineStatus, now: Date): MachineDecision {
  const { isLost, regainedAt = 0 } = snapshot.remediation.connectivity;
  const unseen = joinUnknown(snapshot.machine.metadata.name);
  // The end of the loss wakes the machine.
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

/** The status with the clock of its phase started anew. */
const withClockReset = (status: MachineStatus, now: Date): MachineStatus => ({
  ...status,
  currentStatus: { ...status.currentStatus, lastUpdateTime: apiTime(now) },
});

/**
 * A machine that has been unhealthy for the health timeout is Failed, which is what its set replaces (rows 11, 18 and 21 of the phase
 * transitions). The clock is that of the phase, which nothing but a change of phase moves; it starts anew when the node was
 * healthy in between, and when nobody could see the node for a while.
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
  // Stored times are whole seconds.
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
  // First of all actions: the permit is taken before anything else can run.
  const actions: readonly MachineAction[] = [{ kind: "StartRemediation", uid, group: remediation.group }];
  return {
    actions,
    status: withPhase(withText(status, message, now, "Failed"), "Failed", now),
    because: [{ type: "Warning", reason: machineEventReasons.healthTimedOut, message }],
  };
}

/** What holds a replacement back. */
interface Hold {
  readonly text: string;
  readonly because: Pick<Reason, "type" | "reason">;
  readonly requeueAfterMs?: number;
}

/** What stands in the way of a replacement, the greater trouble first; `undefined` when nothing does. */
function holdOf({ remediation, settings }: MachineSnapshot, now: Date): Hold | undefined {
  const suspended = { type: "Warning", reason: machineEventReasons.remediationPaused } as const;
  // Its end wakes the machine.
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
