import type { Asking } from "./batch.ts";
import { deadlineOf, setDeadline } from "./call-deadline.ts";

/**
 * As `Promise.all`, for requests of one call: when one of them fails, the others are aborted, so that none is sent after the call has ended.
 *
 * @param context time and signal of the call; each request gets it with a signal of its own
 * @throws what the first request that fails throws
 */
export async function allOrAbort<Context extends Asking, Results extends readonly unknown[]>(
  context: Context,
  requests: { readonly [K in keyof Results]: (context: Context) => Promise<Results[K]> },
): Promise<Results> {
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  setDeadline(signal, deadlineOf(context.signal, context.clock));
  const own = { ...context, signal };
  try {
    // A tuple that is mapped is an array for the compiler.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return await Promise.all<Results>(requests.map((request) => request(own)) as never);
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}
