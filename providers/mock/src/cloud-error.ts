import type { MachineErrorCode } from "@millwright/core";

const brand = Symbol.for("millwright.dev/CloudError");

/** Every code but OK. */
export type CloudErrorCode = Exclude<MachineErrorCode, "OK">;

/** Options of {@link CloudError}. */
export interface CloudErrorOptions {
  readonly cause?: unknown;
  /** How long the cloud asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * What the simulated cloud answers when it rejects. Its vocabulary is that of the driver contract, so that a fault can ask for any of the
 * codes; real clouds have their own, which their drivers map.
 */
export class CloudError extends Error {
  override readonly name: string = "CloudError";
  readonly code: CloudErrorCode;
  declare readonly retryAfterMs?: number;

  constructor(code: CloudErrorCode, message: string, options: CloudErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Whether a thrown value is a {@link CloudError}. */
export function isCloudError(value: unknown): value is CloudError {
  return value instanceof Error && Reflect.get(value, brand) === true;
}
