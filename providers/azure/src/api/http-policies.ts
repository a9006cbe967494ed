import type { HttpClient, PipelinePolicy } from "@azure/core-rest-pipeline";
import type { ApiCall, Clock } from "@millwright/core";
import {
  answerTooLong,
  beginExchange,
  fieldOf,
  type InFlightLimit,
  type SessionResources,
} from "@millwright/core/driver-kit";
import type { EgressAgents } from "@millwright/core/egress";
import { serviceOf } from "./api-call.ts";
import { armErrorIn, parseJson } from "./arm-error.ts";
import { ArmFailure } from "./arm-failure.ts";
import { requestIdsIn } from "./request-ids.ts";
import { readRetryAfter } from "./retry-after.ts";

/** Options of {@link limitedHttpClient}. */
export interface HttpClientOptions {
  readonly clock: Clock;
  readonly limit: InFlightLimit;
  readonly agents: EgressAgents;
  readonly recorder: SessionResources["recorder"];
  /** How long one answer may take, milliseconds. */
  readonly timeoutMs: number;
  /** Told of every request over HTTP; one that the SDK repeats is told each time. */
  readonly reportApiCall?: (call: ApiCall) => void;
}

/** Sends requests in their turn, with limits of time and size and over connections of its own, and reports them. */
export function limitedHttpClient(inner: HttpClient, options: HttpClientOptions): HttpClient {
  const { clock, limit, agents, recorder, timeoutMs, reportApiCall } = options;
  return {
    async sendRequest(request) {
      const left = new AbortController();
      const leave = (): void => left.abort();
      request.abortSignal?.addEventListener("abort", leave);
      if (request.abortSignal?.aborted === true) leave();
      // Without TLS there is only the endpoint of managed identities, which is on this machine: it is behind no proxy.
      if (request.url.startsWith("https:")) request.agent = agents.https;
      else delete request.agent;
      request.timeout = request.timeout > 0 ? Math.min(request.timeout, timeoutMs) : timeoutMs;
      let tooLong: Error | undefined;
      request.onDownloadProgress = ({ loadedBytes }) => {
        tooLong = answerTooLong(loadedBytes);
        if (tooLong !== undefined) throw tooLong;
      };
      try {
        return await limit(left.signal, async () => {
          const startMs = clock.monotonicMs();
          const report = (outcome: string): void =>
            reportApiCall?.({
              service: serviceOf(request.method, request.url),
              outcome,
              seconds: (clock.monotonicMs() - startMs) / 1_000,
            });
          const exchange = beginExchange(recorder(), clock, () => ({
            method: request.method,
            url: request.url,
            requestHeaders: request.headers.toJSON(),
            requestBody: typeof request.body === "string" ? request.body : "",
          }));
          try {
            const response = await inner.sendRequest(request);
            exchange.answered(response.status, response.headers.toJSON(), response.bodyAsText ?? "");
            report(response.status < 400 ? "ok" : String(response.status));
            return response;
          } catch (error) {
            const code = fieldOf(error, "code");
            exchange.failed(error);
            report(left.signal.aborted ? "aborted" : typeof code === "string" ? code : "error");
            // The SDK would only say that it could not read the answer.
            throw tooLong ?? error;
          }
        });
      } finally {
        request.abortSignal?.removeEventListener("abort", leave);
      }
    },
  };
}

/** Longer than this nobody waits within one call, milliseconds: the controller does, and shows why. */
const longestWaitMs = 2_000;

/** Ends a call at once when Azure asks for more patience than a call has; the SDK would wait as long as it is told. Belongs inside of the SDK's repetitions. */
export const patiencePolicy = (clock: Clock): PipelinePolicy => ({
  name: "millwrightPatience",
  async sendRequest(request, next) {
    const response = await next(request);
    if (response.status !== 429 && response.status !== 503) return response;
    const retryAfterMs = readRetryAfter(response.headers, clock.now().getTime());
    if (retryAfterMs === undefined || retryAfterMs <= longestWaitMs) return response;
    const { code, message } = armErrorIn(response.bodyAsText);
    throw new ArmFailure({
      code: code === "" ? "TooManyRequests" : code,
      message: message === "" ? "Azure asks to slow down" : message,
      statusCode: response.status,
      retryAfterMs,
      requestIds: requestIdsIn(response.headers),
    });
  },
});

/** Tells the failure of an operation as Azure tells it: the SDK makes one text of it. Belongs outside of the SDK's repetitions. */
export const operationFailurePolicy: PipelinePolicy = {
  name: "millwrightOperationFailure",
  async sendRequest(request, next) {
    const response = await next(request);
    if (request.method !== "GET" || response.status !== 200) return response;
    const body = response.bodyAsText ?? "";
    // Resources have their state elsewhere; only operations have one of these on top.
    if (!body.includes('"status"')) return response;
    const status = fieldOf(parseJson(body), "status");
    if (status !== "Failed" && status !== "Canceled") return response;
    const { code, message } = armErrorIn(body);
    throw new ArmFailure({
      code: code === "" ? status : code,
      message: message === "" ? `the operation ended as ${status}` : message,
      statusCode: 200,
      requestIds: requestIdsIn(response.headers),
    });
  },
};
