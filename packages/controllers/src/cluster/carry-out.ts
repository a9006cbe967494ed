import { type ApiObject, type Log, objectFields, type ReconcileResult, type Writer } from "@millwright/kube";
import type { EventRecorder } from "@millwright/kube";
import type { Decision } from "../model/decision.ts";

/** What {@link carryOut} needs besides the executor of the actions. */
export interface CarryOutOptions<T extends ApiObject> {
  readonly object: T & { readonly status?: object };
  readonly writer: Pick<Writer<T>, "writeStatus">;
  readonly events: EventRecorder;
  readonly log: Log;
}

/** Lets the results of the actions change the status. */
export interface Outcome<Status> {
  /** The status to write after the actions, given the decided one. Default: the decided one. */
  readonly statusAfter?: (status: Status | undefined) => Status | undefined;
}

/**
 * Carries out a decision: its actions in order, then the difference of the status in one patch, then its events, then the actions that follow the status. Events come after what they
 * report; a failed action ends the reconcile, and the next one decides again.
 */
export async function carryOut<T extends ApiObject, Action, Status extends Readonly<Record<string, unknown>>>(
  decision: Decision<Action, Status>,
  act: (action: Action) => Promise<void>,
  { object, writer, events, log, statusAfter }: CarryOutOptions<T> & Outcome<Status>,
): Promise<ReconcileResult> {
  for (const action of decision.actions) await act(action);
  if (decision.isStatusBrief !== true) {
    const status = statusAfter === undefined ? decision.status : statusAfter(decision.status);
    if (status !== undefined) await writer.writeStatus(object, status);
  }
  for (const reason of decision.because) {
    events.record(object, reason);
    log(reason.type === "Warning" ? "warn" : "info", reason.reason, {
      ...objectFields(object),
      because: reason.message,
    });
  }
  for (const action of decision.afterStatus ?? []) await act(action);
  return decision.requeueAfterMs === undefined ? { done: true } : { requeueAfterMs: decision.requeueAfterMs };
}
