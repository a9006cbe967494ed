import type { HttpClient, PipelinePolicy } from "@azure/core-rest-pipeline";
import type { Clock } from "@millwright/core";
import { answerTooLong, beginExchange, fieldOf, type SessionResources } from "@millwright/core/driver-kit";
import type { EgressAgents } from "@millwright/core/egress";
import { armErrorIn, parseJson } from "./arm-error.ts";
import { ArmFailure } from "./arm-failure.ts";
import { requestIdsIn } from "./request-ids.ts";

/** Options of {@link boundedHttpClient}. */
export interface HttpClientOptions {
  readonly clock: Clock;
  readonly agents: EgressAgents;
  readonly recorder: SessionResources["recorder"];
  /** How long one answer may take, milliseconds. */
  readonly timeoutMs: number;
}

/** Sends requests with limits of time and size, over connections of its own. */
export const boundedHttpClient = (
  inner: HttpClient,
  { clock, agents, recorder, timeoutMs }: HttpClientOptions,
): HttpClient => ({
  async sendRequest(request) {
    // Without TLS there is only the endpoint of managed identities, which is on this machine: it is behind no proxy.
    if (request.url.startsWith("https:")) request.agent = agents.https;
    else delete request.agent;
    request.timeout = request.timeout > 0 ? Math.min(request.timeout, timeoutMs) : timeoutMs;
    let tooLong: Error | undefined;
    request.onDownloadProgress = ({ loadedBytes }) => {
      tooLong = answerTooLong(loadedBytes);
      if (tooLong !== undefined) throw tooLong;
    };
    const exchange = beginExchange(recorder(), clock, () => ({
      method: request.method,
      url: request.url,
      requestHeaders: request.headers.toJSON(),
      requestBody: typeof request.body === "string" ? request.body : "",
    }));
    try {
      const response = await inner.sendRequest(request);
      exchange.answered(response.status, response.headers.toJSON(), response.bodyAsText ?? "");
      return response;
    } catch (error) {
      exchange.failed(error);
      // The SDK would only report that it could not parse the response.
      throw tooLong ?? error;
    }
  },
});

/** Keeps the code of a failed operation, which the SDK would turn into text. Must be outside of retries. */
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
