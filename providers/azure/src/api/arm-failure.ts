import type { RequestIds } from "./request-ids.ts";

/** A failure with a code of Azure that the SDK would hide or wait for: of an asynchronous operation, or of a throttled request. */
export class ArmFailure extends Error {
  override readonly name: string = "ArmFailure";
  /** Azure's code; empty when it gave none. */
  readonly code: string;
  /** HTTP status of the request; 200 for an operation that failed later. */
  readonly statusCode: number;
  readonly retryAfterMs: number | undefined;
  readonly requestIds: RequestIds;

  constructor(failure: {
    readonly code: string;
    readonly message: string;
    readonly statusCode: number;
    readonly retryAfterMs?: number;
    readonly requestIds: RequestIds;
  }) {
    super(failure.message);
    this.code = failure.code;
    this.statusCode = failure.statusCode;
    this.retryAfterMs = failure.retryAfterMs;
    this.requestIds = failure.requestIds;
  }
}
