import { waitingForOtherMachines } from "@millwright/core/machine-api";
import { type MachineDecision, nothing } from "../state/decision.ts";
import type { OperationView } from "../../model/operation.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation } from "../../model/status-change.ts";
import { creationDeadline } from "../../model/timeouts.ts";
import { recordRejection } from "./record-rejection.ts";
import { bounded, failingPhase, withFailingPhase, withFailure } from "./record-failure.ts";

/** A creation that is delayed by the launch throttle. */
export type WaitingOperation = Extract<OperationView, { readonly state: "waiting" }>;

/** Short waits are not written to the status, milliseconds. */
const SILENT_MS = 30_000;

/**
 * A machine that is throttled reports it once. During a class backoff its status is that of a machine whose own creation failed, including the code: the cluster
 * autoscaler reads that code, and the creation timeout applies. Only the limit of concurrent creations does not cause a timeout.
 */
export function decideWaiting(snapshot: MachineSnapshot, waiting: WaitingOperation, now: Date): MachineDecision {
  const { machine } = snapshot;
  const { classBackoff, since } = waiting;
  const className = machine.spec.class?.name ?? "";
  const previous = statusOf(machine);
  if (classBackoff === undefined) {
    const leftMs = since + SILENT_MS - now.getTime();
    if (leftMs > 0) return { ...nothing, requeueAfterMs: leftMs };
    // A reported failure is more useful than the wait.
    if (previous.lastOperation?.state === "Failed") return nothing;
    const operation = { description: waitingForOtherMachines(className), state: "Processing", type: "Create" } as const;
    return { ...nothing, status: withOperation(previous, operation, now) };
  }
  const { type, state, errorCode } = previous.lastOperation ?? {};
  const { code } = classBackoff;
  const phase = failingPhase(snapshot, now);
  const description = { reason: "WaitingForClass", className, code, message: bounded(classBackoff.message) } as const;
  const isFailing = type === "Create" && state === "Failed" && errorCode === code;
  const status = isFailing
    ? withFailingPhase(snapshot, previous, now)
    : withFailure(snapshot, previous, { description, errorCode: code }, now);
  if (phase === "Failed")
    return { actions: [...recordRejection(snapshot), { kind: "CancelOperation" }], status, because: [] };
  return {
    ...nothing,
    status,
    ...(phase === undefined ? {} : { requeueAfterMs: creationDeadline(snapshot) - now.getTime() + 1 }),
  };
}
