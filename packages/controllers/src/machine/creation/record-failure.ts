import {
  encodeMachineError,
  initializeFailed,
  machineEventReasons,
  type MachinePhase,
  type MachineStatus,
  providerMessage,
  retryClassOf,
} from "@millwright/core";
import type { Reason } from "../../model/decision.ts";
import type { MachineDecision } from "../state/decision.ts";
import type { FailedOperation } from "../../model/operation.ts";
import { withAttempts, withoutAttempts } from "../../model/failed-attempts.ts";
import { msUntilRetry } from "../../model/retry.ts";
import { isSameFailure } from "../../model/same-failure.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { creationDeadline } from "../../model/timeouts.ts";
import { isProvisioning } from "../../model/provisioning.ts";

/** Longest provider message in a status: readable, and affordable in the cache for ten thousand machines. */
const MAX_MESSAGE = 1000;

export const bounded = (message: string): string =>
  message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;

/** The driver's state of the last call: the new one, else the previous one unless the failure is permanent (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow). */
function withLastKnownState(status: MachineStatus, { kind, code, lastKnownState }: FailedOperation): MachineStatus {
  if (lastKnownState !== undefined) return { ...status, lastKnownState };
  const retry = retryClassOf(code);
  if (kind === "initialize" || retry === "transient" || retry === "exhausted") return status;
  const { lastKnownState: _, ...rest } = status;
  return rest;
}

/** The phase of a machine whose creation fails; `undefined` for one that was created before and keeps its phase. */
export function failingPhase(snapshot: MachineSnapshot, now: Date): MachinePhase | undefined {
  if (!isProvisioning(snapshot.machine)) return undefined;
  return now.getTime() > creationDeadline(snapshot) ? "Failed" : "CrashLoopBackOff";
}

/** What the status reports about a failure. */
interface FailureText {
  readonly description: string;
  readonly errorCode: string;
  /** The call that failed; absent where none did. */
  readonly failed?: FailedOperation;
}

const msUntilNext = ({ inputs, settings }: MachineSnapshot, failed: FailedOperation, now: Date): number =>
  msUntilRetry(failed, inputs, now, settings.resourceExhaustedRetryMs);

/** The status with a failure; the previous description is kept when it describes the same failure. */
export function withFailure(
  snapshot: MachineSnapshot,
  { description, errorCode, failed }: FailureText,
  now: Date,
): MachineStatus {
  const before = statusOf(snapshot.machine);
  const last = before.lastOperation;
  const isSame =
    last?.errorCode === errorCode &&
    last.description !== undefined &&
    isSameFailure(withoutAttempts(last.description), description);
  const kept = isSame && last.description !== undefined ? last.description : description;
  const text =
    failed === undefined
      ? kept
      : withAttempts(withoutAttempts(kept), failed, { last, now, requeueAfterMs: msUntilNext(snapshot, failed, now) });
  const updated = withOperation(before, { description: text, errorCode, state: "Failed", type: "Create" }, now);
  const phase = failingPhase(snapshot, now);
  return phase === undefined ? updated : withPhase(updated, phase, now);
}

/** Records a failed driver call of a creation. After the creation timeout the machine is Failed and is replaced. */
export function recordFailure(snapshot: MachineSnapshot, failed: FailedOperation, now: Date): MachineDecision {
  const { code, kind } = failed;
  const message = bounded(failed.message);
  const error = encodeMachineError({ code, message });
  const description = kind === "initialize" ? initializeFailed(error) : providerMessage(error);
  const before = statusOf(snapshot.machine);
  const status = withFailure(snapshot, { description, errorCode: code, failed }, now);
  const reason = kind === "initialize" ? machineEventReasons.failedInitializeVm : machineEventReasons.failedCreateVm;
  const because: Reason[] = status === before ? [] : [{ type: "Warning", reason, message: `${code}: ${message}` }];
  return {
    actions: [{ kind: "AcknowledgeOperation" }],
    status: withLastKnownState(status, failed),
    because,
    ...(failingPhase(snapshot, now) === "Failed" ? {} : { requeueAfterMs: msUntilNext(snapshot, failed, now) }),
  };
}
