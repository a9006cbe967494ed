import { type ApiObject, createMergePatch, keyOf, type Log, type ReconcileResult } from "@millwright/kube";
import type { EventRecorder } from "@millwright/kube";
import type { Decision } from "../model/decision.ts";
import type { Writer } from "./writer.ts";

/** What {@link carryOut} needs besides the executor of the actions. */
export interface CarryOutOptions<T extends ApiObject> {
  readonly object: T & { readonly status?: object };
  readonly writer: Writer<T>;
  readonly events: EventRecorder;
  readonly log: Log;
}

/** Lets the results of the actions change the status. */
export interface Outcome<Status> {
  /** The status to write after the actions, given the decided one. Default: the decided one. */
  readonly statusAfter?: (status: Status | undefined) => Status | undefined;
}

/** Writes the difference of the status, or nothing. */
async function writeStatus<T extends ApiObject>(
  status: Readonly<Record<string, unknown>> | undefined,
  { object, writer }: Pick<CarryOutOptions<T>, "object" | "writer">,
): Promise<void> {
  if (status === undefined) return;
  const patch = createMergePatch({ ...object.status }, { ...status });
  const { namespace, name = "" } = object.metadata;
  if (patch !== undefined) await writer.patchStatus({ namespace, name }, patch);
}

/**
 * Carries out a decision: its actions in order, then the difference of the status in one patch, then its events. Events come last because they
 * report what happened; a failed action ends the reconcile, and the next one decides again.
 */
export async function carryOut<T extends ApiObject, Action, Status extends Readonly<Record<string, unknown>>>(
  decision: Decision<Action, Status>,
  act: (action: Action) => Promise<void>,
  { object, writer, events, log, statusAfter }: CarryOutOptions<T> & Outcome<Status>,
): Promise<ReconcileResult> {
  for (const action of decision.actions) await act(action);
  await writeStatus(statusAfter === undefined ? decision.status : statusAfter(decision.status), { object, writer });
  for (const reason of decision.because) {
    events.record(object, reason);
    log(reason.type === "Warning" ? "warn" : "info", reason.reason, { object: keyOf(object), because: reason.message });
  }
  return decision.requeueAfterMs === undefined ? { done: true } : { requeueAfterMs: decision.requeueAfterMs };
}
