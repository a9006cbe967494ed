import type { Clock } from "@millwright/core";
import { beginExchange, readAnswer } from "@millwright/core/driver-kit";
import type { EgressFetch } from "./egress-fetch.ts";
import { GceFailure, NoAnswer, readFailure, unreadable } from "./gce-failure.ts";

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
  const exchange = beginExchange(fetch.recorder(), clock, () => ({
    method: request.method,
    url: request.url,
    requestHeaders: Object.fromEntries(request.headers),
    requestBody: request.body ?? "",
  }));
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
    exchange.answered(response.status, Object.fromEntries(response.headers), text);
    if (!response.ok) throw readFailure(response.status, response.headers, text);
    return text;
  } catch (error) {
    exchange.failed(error);
    // `fetch` wraps the reason when the body is cut off.
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", leave);
  }
}

/**
 * Sends a request to another service than Compute Engine, whose answer is JSON. What fails names the service.
 *
 * @param service the service, as messages name it
 * @throws NoAnswer when none came; GceFailure for one that is no success, or no JSON; the signal's reason when it aborts
 */
export async function askService(service: string, request: OutgoingRequest, sending: Sending): Promise<unknown> {
  return namingService(service, sending.signal, async () => parseAnswer(await sendRequest(request, sending)));
}

/** Names the service in whatever a request to it failed of. */
export async function namingService<T>(service: string, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted) throw error;
    if (!(error instanceof GceFailure)) throw new NoAnswer(service, error);
    error.service = service;
    throw error;
  }
}

/**
 * Reads an answer that is JSON.
 *
 * @throws GceFailure for one that is none
 */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser would repeat a part of the answer.
    throw unreadable(200);
  }
}
