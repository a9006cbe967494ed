import {
  type ApiObject,
  type Log,
  objectFields,
  type ReconcileResult,
  type Refusal,
  type Writer,
} from "@millwright/kube";
import type { EventRecorder } from "@millwright/kube";
import type { Decision } from "../model/decision.ts";
import { lastingRefusal, reportRefusal } from "./refused-writes.ts";

/** What {@link carryOut} needs besides the executor of the actions. */
export interface CarryOutOptions<T extends ApiObject> {
  readonly object: T & { readonly status?: object };
  readonly writer: Pick<Writer<T>, "writeStatus">;
  readonly events: EventRecorder;
  readonly log: Log;
}

/** Lets the results of the actions change the status. */
export interface Outcome<Status> {
  /** The status of an object whose reconcile fails since the API server refuses a write; `undefined` where it keeps its own. Default: it does. */
  readonly refusedStatus?: (refusal: Refusal) => Status | undefined;
  /** The status to write after the actions, given the decided one. Default: the decided one. */
  readonly statusAfter?: (status: Status | undefined) => Status | undefined;
}

/**
 * Carries out a decision: its actions in order, then the difference of the status in one patch, then its events. Events come after what they report; a failed action ends the reconcile, and the next
 * one decides again. Of a write that the API server refuses for longer, the object gets an event and, where that is accepted, a status.
 */
export async function carryOut<T extends ApiObject, Action, Status extends Readonly<Record<string, unknown>>>(
  decision: Decision<Action, Status>,
  act: (action: Action) => Promise<void>,
  options: CarryOutOptions<T> & Outcome<Status>,
): Promise<ReconcileResult> {
  try {
    return await carryOutAll(decision, act, options);
  } catch (error) {
    const refusal = lastingRefusal(error);
    if (refusal === undefined) throw error;
    const { object, writer, events, refusedStatus } = options;
    reportRefusal(object, refusal, events);
    const status = refusedStatus?.(refusal);
    // The event remains where this is refused, too.
    if (status !== undefined) await writer.writeStatus(object, status).catch(() => undefined);
    throw error;
  }
}

async function carryOutAll<T extends ApiObject, Action, Status extends Readonly<Record<string, unknown>>>(
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
  return decision.requeueAfterMs === undefined ? { done: true } : { requeueAfterMs: decision.requeueAfterMs };
}
