import { retryClassOf } from "@millwright/core/driver-host";
import {
  type FailureEvent,
  machineEventReasons,
  type MachinePhase,
  type MachineStatus,
  type OperationEvent,
} from "@millwright/core/machine-api";
import type { Reason } from "../../model/decision.ts";
import type { MachineDecision } from "../state/decision.ts";
import type { FailedOperation } from "../../model/operation.ts";
import { withAttempts } from "../../model/failed-attempts.ts";
import { msUntilRetry } from "../../model/retry.ts";
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

const msUntilNext = ({ inputs, settings }: MachineSnapshot, failed: FailedOperation, now: Date): number =>
  msUntilRetry(failed, inputs, now, settings.resourceExhaustedRetryMs);

/** The status with the phase of a machine whose creation fails. */
export function withFailingPhase(snapshot: MachineSnapshot, status: MachineStatus, now: Date): MachineStatus {
  const phase = failingPhase(snapshot, now);
  return phase === undefined ? status : withPhase(status, phase, now);
}

/** The status with a failure of the creation. */
export function withFailure(
  snapshot: MachineSnapshot,
  before: MachineStatus,
  { description, errorCode }: { readonly description: OperationEvent; readonly errorCode: string },
  now: Date,
): MachineStatus {
  const operation = { description, errorCode, state: "Failed", type: "Create" } as const;
  return withFailingPhase(snapshot, withOperation(before, operation, now), now);
}

/** Which call failed, with what its text names. */
type FailureReason =
  | { readonly reason: "CreationFailed" | "InitializationFailed" }
  | { readonly reason: "StaleVmNotDeleted"; readonly nodeName: string };

/** The status with a failed call; the words of its first report are kept. */
export function withFailedCall(
  snapshot: MachineSnapshot,
  failed: FailedOperation,
  reason: FailureReason,
  now: Date,
): MachineStatus {
  const { code, isHeldBack: heldBack = false } = failed;
  const status = statusOf(snapshot.machine);
  const event: FailureEvent = { ...reason, code, message: bounded(failed.message), heldBack };
  const requeueAfterMs = msUntilNext(snapshot, failed, now);
  const description = withAttempts(event, failed, { status, requeueAfterMs, now });
  return withFailure(snapshot, status, { description, errorCode: code }, now);
}

/** Records a failed driver call of a creation. After the creation timeout the machine is Failed and is replaced. */
export function recordFailure(snapshot: MachineSnapshot, failed: FailedOperation, now: Date): MachineDecision {
  const { code, kind } = failed;
  const message = bounded(failed.message);
  const before = statusOf(snapshot.machine);
  const failure = { reason: kind === "initialize" ? "InitializationFailed" : "CreationFailed" } as const;
  const status = withFailedCall(snapshot, failed, failure, now);
  const reason = kind === "initialize" ? machineEventReasons.failedInitializeVm : machineEventReasons.failedCreateVm;
  const because: Reason[] = status === before ? [] : [{ type: "Warning", reason, message: `${code}: ${message}` }];
  return {
    actions: [{ kind: "AcknowledgeOperation" }],
    status: withLastKnownState(status, failed),
    because,
    ...(failingPhase(snapshot, now) === "Failed" ? {} : { requeueAfterMs: msUntilNext(snapshot, failed, now) }),
  };
}
