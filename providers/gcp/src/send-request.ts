import { type Clock, MachineError } from "@millwright/core";
import { readFailure } from "./gce-failure.ts";

/** One request. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
}

/** Until when a request may take, and by which clock. */
export interface Patience {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A list of 500 instances has about 5 MiB. */
const mostBytes = 64 * 1024 * 1024;

/**
 * Sends a request and reads its answer.
 *
 * @throws GceFailure for an answer that is no success; MachineError Unavailable for one that is too long; TimeoutError when none comes in time; the signal's reason when it aborts
 */
export async function sendRequest(request: OutgoingRequest, { clock, signal, timeoutMs }: Patience): Promise<string> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const leave = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  const timer = clock.setTimer(timeoutMs, () => stop.abort(new DOMException("no answer in time", "TimeoutError")));
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      signal: stop.signal,
      // A token must not follow to another host.
      redirect: "manual",
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const text = await readText(response);
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

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > mostBytes) {
      // Not worth another try.
      throw new MachineError("Unavailable", `Compute Engine answered with more than ${mostBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
