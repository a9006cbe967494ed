import type { PendingResponse } from "@millwright/core";
import { startWaitingTime } from "@millwright/core/driver-kit";
import type { MethodCall } from "./method-call.ts";

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
  const waiting = startWaitingTime(call.context);
  try {
    return await act({ ...call, context: waiting.context });
  } catch (error) {
    if (!waiting.isOver()) throw error;
    return { pending: { message, checkAfterMs } };
  } finally {
    waiting.end();
  }
}
