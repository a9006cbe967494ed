import { type MachineErrorCode, isMachineErrorCode } from "./machine-error-code.ts";
import { encodeMachineError } from "./machine-error-text.ts";

const brand = Symbol.for("millwright.dev/MachineError");

/** Options of {@link MachineError}. */
export interface MachineErrorOptions {
  /** The original error, for logs. Never shown to users: an SDK error may contain a request with credentials. */
  readonly cause?: unknown;
  /** How long the cloud requests to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs?: number;
  /**
   * State of a failed call, in the driver's own format: the controller stores it in `status.lastKnownState`, and it
   * survives a restart. Undefined keeps or clears the stored text, depending on the code (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow).
   */
  readonly lastKnownState?: string;
  /**
   * Of `createMachine`: the idempotency token of this attempt is spent and no VM of it exists or will exist, for example because the VM entered an error
   * state and was deleted. The next attempt gets another token. The codes in `rejectionCodes` imply this.
   */
  readonly tokenIsSpent?: boolean;
}

/**
 * The only error that a driver throws: a code that decides what the controller does, and a message for users: what
 * is wrong, where, and what to do. The message is written to the machine's status, events and logs: no secret values, no
 * request dumps, nothing that changes with each attempt (such as request ids: they belong in the log), at most 4 KiB.
 *
 * @example
 * throw new MachineError("ResourceExhausted", "quota of 20 instances in region eu-1 is used up", { retryAfterMs: 60_000 });
 */
export class MachineError extends Error {
  override readonly name: string = "MachineError";
  readonly code: MachineErrorCode;
  declare readonly retryAfterMs?: number;
  declare readonly lastKnownState?: string;
  declare readonly tokenIsSpent?: boolean;

  constructor(code: MachineErrorCode, message: string, options: MachineErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.lastKnownState !== undefined) this.lastKnownState = options.lastKnownState;
    if (options.tokenIsSpent !== undefined) this.tokenIsSpent = options.tokenIsSpent;
    Object.defineProperty(this, brand, { value: true });
  }

  /** MCM's text form, so that an error that is only printed can still be decoded. */
  override toString(): string {
    return encodeMachineError(this);
  }
}

/**
 * Whether a thrown value is a {@link MachineError} with a known code. Matches by brand: a driver may carry its own copy of
 * this package, where `instanceof` would fail.
 */
export function isMachineError(value: unknown): value is MachineError {
  return value instanceof Error && Reflect.get(value, brand) === true && isMachineErrorCode(Reflect.get(value, "code"));
}

/** Whether a thrown value is a {@link MachineError} with one of these codes. */
export function hasMachineErrorCode(value: unknown, ...codes: readonly MachineErrorCode[]): value is MachineError {
  return isMachineError(value) && codes.includes(value.code);
}
