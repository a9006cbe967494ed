import type { PendingResponse } from "@millwright/core";
import type { MethodCall } from "./method-call.ts";

/** How long a call waits for Compute Engine, milliseconds: less than the five minutes that it has by default. */
const longestWaitMs = 4 * 60_000;
/** When to look again at an operation that takes longer, milliseconds. */
const checkAfterMs = 10_000;

/**
 * Does something that waits for operations of Compute Engine. Where they take longer than a call can wait the answer is pending: the operations go on, and the next call finds them by the request
 * id, the VM or its disks.
 *
 * @param message what Compute Engine does, the same for every call
 */
export async function orPending<T>(
  message: string,
  call: MethodCall,
  act: (call: MethodCall) => Promise<T>,
): Promise<T | PendingResponse> {
  const { context } = call;
  const overdue = new AbortController();
  const timer = context.clock.setTimer(longestWaitMs, () => overdue.abort(new Error(message)));
  try {
    return await act({
      ...call,
      context: { ...context, signal: AbortSignal.any([context.signal, overdue.signal]) },
    });
  } catch (error) {
    if (!overdue.signal.aborted || context.signal.aborted) throw error;
    return { pending: { message, checkAfterMs } };
  } finally {
    timer.cancel();
  }
}
