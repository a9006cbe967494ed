import type { PipelinePolicy, PipelineRequest, PipelineResponse } from "@azure/core-rest-pipeline";
import type { Clock } from "@millwright/core";
import type { InFlightLimit, RequestSender } from "@millwright/core/driver-kit";
import { serviceOf } from "./api-call.ts";
import { armErrorIn } from "./arm-error.ts";
import { ArmFailure } from "./arm-failure.ts";
import { ErrorAnswer } from "./error-answer.ts";
import { requestIdsIn } from "./request-ids.ts";

/** Headers of an answer. */
interface Headers {
  get(name: string): string | undefined;
}

/** Those that give milliseconds, in the order in which the SDK looks at them. */
const inMilliseconds = ["retry-after-ms", "x-ms-retry-after-ms"] as const;

/** The delay that a response requests, milliseconds: from the headers that the SDK would follow without limit. Undefined without them. */
function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  for (const name of inMilliseconds) {
    const value = headers.get(name) ?? "";
    if (/^\d{1,12}$/.test(value)) return Number(value);
  }
  const value = headers.get("retry-after") ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** Requests for tokens are made while another request holds its place in flight: they take none. */
const noLimit: InFlightLimit = (signal, call) => {
  signal.throwIfAborted();
  return call();
};

/** Options of {@link sendPolicy}. */
export interface SendPolicyOptions {
  readonly send: RequestSender;
  readonly clock: Clock;
  /** Whether the requests are those for tokens. */
  readonly isForTokens?: boolean;
  /** Called when Azure does not accept the token of a request. */
  readonly onRejectedToken?: () => void;
}

/**
 * Has the requests of a client sent by `send`, which repeats them: the repetitions of the SDK belong switched off. Belongs outside of where requests are signed, so that one that has waited has
 * a token that is still good.
 */
export const sendPolicy = ({
  send,
  clock,
  isForTokens = false,
  onRejectedToken,
}: SendPolicyOptions): PipelinePolicy => ({
  name: "millwrightSend",
  async sendRequest(request, next) {
    const { signal, leave } = signalOf(request);
    const sent = {
      service: serviceOf(request.method, request.url),
      signal,
      ...(isForTokens ? { inFlight: noLimit } : {}),
    };
    try {
      return await send(sent, async () => {
        const response = await next(request);
        if (response.status < 400) return isForTokens ? response : requireJson(response);
        throw new ErrorAnswer(response, isForTokens, readRetryAfter(response.headers, clock.now().getTime()));
      });
    } catch (error) {
      if (!(error instanceof ErrorAnswer)) throw error;
      const { response, retryAfterMs } = error;
      if (response.status === 401) onRejectedToken?.();
      if (retryAfterMs === undefined) return response;
      // The SDK would lose how long Azure asks to wait.
      const { code, message } = armErrorIn(response.bodyAsText);
      throw new ArmFailure({
        code: code === "" ? "ServiceUnavailable" : code,
        message: message === "" ? "Azure throttles requests" : message,
        statusCode: response.status,
        retryAfterMs,
        requestIds: requestIdsIn(response.headers),
      });
    } finally {
      leave();
    }
  },
});

/**
 * An answer of Resource Manager, whose bodies are JSON objects. The SDK would take a page of a proxy for a resource without fields, or a list without resources.
 *
 * @throws ArmFailure for any other body
 */
function requireJson(response: PipelineResponse): PipelineResponse {
  const { bodyAsText, status, headers } = response;
  if (typeof bodyAsText !== "string" || bodyAsText === "" || /^\s*\{/.test(bodyAsText)) return response;
  throw new ArmFailure({
    code: "PARSE_ERROR",
    message: "the answer is not JSON",
    statusCode: status,
    requestIds: requestIdsIn(headers),
  });
}

/** The signal of a request: its own, or one like it where it has another kind, or none. */
function signalOf({ abortSignal }: PipelineRequest): { readonly signal: AbortSignal; readonly leave: () => void } {
  if (abortSignal instanceof AbortSignal) return { signal: abortSignal, leave: () => undefined };
  const left = new AbortController();
  const abort = (): void => left.abort();
  if (abortSignal?.aborted === true) abort();
  abortSignal?.addEventListener("abort", abort);
  return { signal: left.signal, leave: () => abortSignal?.removeEventListener("abort", abort) };
}
