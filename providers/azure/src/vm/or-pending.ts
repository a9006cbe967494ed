import { isMachineError, type PendingResponse } from "@millwright/core";
import { startWaitingTime } from "@millwright/core/driver-kit";
import { isOperationInProgress } from "../api/operation-in-progress.ts";
import type { MethodCall } from "./method-call.ts";

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
  const waiting = startWaitingTime(call.context);
  try {
    return await run({ ...call, context: waiting.context });
  } catch (error) {
    // Another code is more specific than a pending operation, such as a lack of capacity.
    const isPending = isOperationInProgress(error) && (!isMachineError(error) || error.code === "DeadlineExceeded");
    if (waiting.isOver() && isPending) return { pending: { message, checkAfterMs } };
    throw error;
  } finally {
    waiting.end();
  }
}
