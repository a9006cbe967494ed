import { isMachineError, type PendingResponse } from "@millwright/core";
import { deadlineOf, setDeadline } from "@millwright/core/driver-kit";
import { isStillGoing } from "../api/still-going.ts";
import type { MethodCall } from "./method-call.ts";

/** How long a call waits for Azure, milliseconds: a minute less than the deadline that a host gives it. */
const longestWaitMs = 240_000;
/** Before the next call about an operation that Azure has accepted, milliseconds. */
const checkAfterMs = 15_000;

/**
 * Runs a method that begins something in Azure. When its time is nearly over and Azure goes on with what it has accepted, the answer is pending: the next call finds it by its name.
 *
 * @param message what Azure does, for people
 */
export async function orPending<Response>(
  call: MethodCall,
  message: string,
  run: (call: MethodCall) => Promise<Response>,
): Promise<Response | PendingResponse> {
  const { context } = call;
  const limit = new AbortController();
  const timer = context.clock.setTimer(longestWaitMs, () =>
    limit.abort(new DOMException("the call has waited long enough", "TimeoutError")),
  );
  const signal = AbortSignal.any([context.signal, limit.signal]);
  const ofCall = deadlineOf(context.signal, context.clock);
  const endMs = context.clock.monotonicMs() + longestWaitMs;
  setDeadline(signal, () => Math.min(ofCall(), endMs - context.clock.monotonicMs()));
  try {
    return await run({ ...call, context: { ...context, signal } });
  } catch (error) {
    const isTimeUp = limit.signal.aborted && !context.signal.aborted;
    // Another code says more than that something goes on, such as a lack of capacity.
    const isPending = isStillGoing(error) && (!isMachineError(error) || error.code === "DeadlineExceeded");
    if (isTimeUp && isPending) return { pending: { message, checkAfterMs } };
    throw error;
  } finally {
    timer.cancel();
  }
}
