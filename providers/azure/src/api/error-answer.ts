import type { PipelineResponse } from "@azure/core-rest-pipeline";

/** An answer with an error status, as a failure: the SDK makes an error of it only later. */
export class ErrorAnswer extends Error {
  override readonly name: string = "ErrorAnswer";
  readonly response: PipelineResponse;
  /** Whether Azure Resource Manager rejected the request for its rate. Limits of Entra ID are not those of a kind of request. */
  readonly isThrottled: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(response: PipelineResponse, isForToken: boolean, retryAfterMs: number | undefined) {
    super(`status ${response.status}`);
    this.response = response;
    this.isThrottled = response.status === 429 && !isForToken;
    this.retryAfterMs = retryAfterMs;
  }
}
