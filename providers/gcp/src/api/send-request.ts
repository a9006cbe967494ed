import type { Clock } from "@millwright/core";
import { readAnswer } from "@millwright/core/driver-kit";
import type { EgressFetch } from "./egress-fetch.ts";
import { readFailure } from "./gce-failure.ts";

/** One request. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
}

/** How a request is sent, until when it may take, and by which clock. */
export interface Sending {
  readonly fetch: EgressFetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Sends a request and reads its answer.
 *
 * @throws GceFailure for an answer that is no success; an error for one that is too long, as `readAnswer`; TimeoutError when none comes in time; the signal's reason when it aborts
 */
export async function sendRequest(
  request: OutgoingRequest,
  { fetch, clock, signal, timeoutMs }: Sending,
): Promise<string> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const leave = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  const timer = clock.setTimer(timeoutMs, () => stop.abort(new DOMException("no answer in time", "TimeoutError")));
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: Object.fromEntries(request.headers),
      signal: stop.signal,
      // A token must not follow to another host.
      redirect: "manual",
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const text = await readAnswer(response.body);
    if (!response.ok) throw readFailure(response.status, response.headers, text);
    return text;
  } catch (error) {
    // `fetch` wraps the reason when the body is cut off.
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", leave);
  }
}
