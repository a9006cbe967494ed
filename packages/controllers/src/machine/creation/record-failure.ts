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
import { msUntilRetry } from "../../model/retry.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { creationDeadline } from "../../model/timeouts.ts";
import { isProvisioning } from "../../model/provisioning.ts";

/** Longest text of a provider in a status: enough for a person, and for ten thousand machines in a cache. */
const MAX_MESSAGE = 1000;

export const bounded = (message: string): string =>
  message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;

/** What changes from try to try although the failure is the same: ids of requests, times. */
const fleeting =
  /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{16,}\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\dZ]*/gi;

/** Whether two texts tell of the same failure. */
export const isSameFailure = (a: string, b: string): boolean => a.replace(fleeting, "#") === b.replace(fleeting, "#");

/** What the driver wants to remember: what it said now, else what it said before, unless the failure is for good (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow). */
function withLastKnownState(status: MachineStatus, { kind, code, lastKnownState }: FailedOperation): MachineStatus {
  if (lastKnownState !== undefined) return { ...status, lastKnownState };
  const retry = retryClassOf(code);
  if (kind === "initialize" || retry === "transient" || retry === "exhausted") return status;
  const { lastKnownState: _, ...rest } = status;
  return rest;
}

/** The phase of a machine whose creation fails; `undefined` for one that is past creation and keeps its phase. */
export function failingPhase(snapshot: MachineSnapshot, now: Date): MachinePhase | undefined {
  if (!isProvisioning(snapshot.machine)) return undefined;
  return now.getTime() > creationDeadline(snapshot) ? "Failed" : "CrashLoopBackOff";
}

/** A status that tells of a failure; the words of the last time stay where they tell of the same. */
export function withFailure(
  snapshot: MachineSnapshot,
  { description, errorCode }: { readonly description: string; readonly errorCode: string },
  now: Date,
): MachineStatus {
  const before = statusOf(snapshot.machine);
  const last = before.lastOperation;
  const isSame =
    last?.errorCode === errorCode && last.description !== undefined && isSameFailure(last.description, description);
  const text = isSame && last.description !== undefined ? last.description : description;
  const updated = withOperation(before, { description: text, errorCode, state: "Failed", type: "Create" }, now);
  const phase = failingPhase(snapshot, now);
  return phase === undefined ? updated : withPhase(updated, phase, now);
}

/** A driver call of a creation failed: the machine says how, and after the creation timeout it is given up and replaced. */
export function recordFailure(snapshot: MachineSnapshot, failed: FailedOperation, now: Date): MachineDecision {
  const { inputs, settings } = snapshot;
  const { code, kind } = failed;
  const message = bounded(failed.message);
  const error = encodeMachineError({ code, message });
  const description = kind === "initialize" ? initializeFailed(error) : providerMessage(error);
  const before = statusOf(snapshot.machine);
  const status = withFailure(snapshot, { description, errorCode: code }, now);
  const reason = kind === "initialize" ? machineEventReasons.failedInitializeVm : machineEventReasons.failedCreateVm;
  const because: Reason[] = status === before ? [] : [{ type: "Warning", reason, message: `${code}: ${message}` }];
  return {
    actions: [{ kind: "AcknowledgeOperation" }],
    status: withLastKnownState(status, failed),
    because,
    ...(failingPhase(snapshot, now) === "Failed"
      ? {}
      : { requeueAfterMs: msUntilRetry(failed, inputs, now, settings.resourceExhaustedRetryMs) }),
  };
}
