import { encodeMachineError, waitingForClass, waitingForOtherMachines } from "@millwright/core";
import { type MachineDecision, nothing } from "../state/decision.ts";
import type { OperationView } from "../../model/operation.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation } from "../../model/status-change.ts";
import { creationDeadline } from "../../model/timeouts.ts";
import { bounded, failingPhase, withFailure } from "./record-failure.ts";

/** A creation that waits for its turn. */
export type WaitingOperation = Extract<OperationView, { readonly state: "waiting" }>;

/** A queue that moves is not worth a write; after so long a person may ask, milliseconds. */
const SILENT_MS = 30_000;

/**
 * A machine that waits for its turn says so, once. Where its class is in trouble it reads like a machine that has tried by itself, code included: the cluster
 * autoscaler reads that code, and the creation timeout counts. Where there are only too many at once, no timeout does.
 */
export function decideWaiting(snapshot: MachineSnapshot, waiting: WaitingOperation, now: Date): MachineDecision {
  const { machine } = snapshot;
  const { classBackoff, since } = waiting;
  const className = machine.spec.class?.name ?? "";
  const before = statusOf(machine);
  if (classBackoff === undefined) {
    const leftMs = since + SILENT_MS - now.getTime();
    if (leftMs > 0) return { ...nothing, requeueAfterMs: leftMs };
    // A failure that was told already says more than the wait.
    if (before.lastOperation?.state === "Failed") return nothing;
    const operation = { description: waitingForOtherMachines(className), state: "Processing", type: "Create" } as const;
    return { ...nothing, status: withOperation(before, operation, now) };
  }
  const { type, state, errorCode, description: said = "" } = before.lastOperation ?? {};
  const isReported = type === "Create" && state === "Failed" && errorCode === classBackoff.code;
  const error = encodeMachineError({ code: classBackoff.code, message: bounded(classBackoff.message) });
  const description = isReported ? said : waitingForClass(className, error);
  const status = withFailure(snapshot, { description, errorCode: classBackoff.code }, now);
  const phase = failingPhase(snapshot, now);
  if (phase === "Failed") return { actions: [{ kind: "CancelOperation" }], status, because: [] };
  return {
    ...nothing,
    status,
    ...(phase === undefined ? {} : { requeueAfterMs: creationDeadline(snapshot) - now.getTime() + 1 }),
  };
}
