import type { MachineErrorCode } from "@millwright/core";
import { type RetryClass, retryClassOf } from "@millwright/core/driver-host";
import type { FailedOperation, OperationKind } from "./operation.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** MCM's retry period after ResourceExhausted, flag `--resource-exhausted-retry`, milliseconds. */
export const DEFAULT_EXHAUSTED_RETRY_MS = 10 * MINUTE;

/** The bounds of an exponential backoff, milliseconds. */
export interface BackoffBounds {
  readonly firstMs: number;
  /** Each delay is twice the one before, up to this: the delay of MCM (`pkg/util/provider/machineutils/utils.go`; `triggerCreationFlow` and `triggerDeletionFlow` in `pkg/util/provider/machinecontroller/machine.go`). */
  readonly longestMs: number;
}

/** The backoff bounds of a call. docs/reference/error-codes.md shows them. */
export function backoffBounds(
  retry: RetryClass,
  kind: OperationKind,
  exhaustedRetryMs = DEFAULT_EXHAUSTED_RETRY_MS,
): BackoffBounds {
  switch (retry) {
    case "transient":
      return { firstMs: SECOND, longestMs: 5 * SECOND };
    case "exhausted":
      return { firstMs: Math.min(30 * SECOND, exhaustedRetryMs), longestMs: exhaustedRetryMs };
    case "persistent":
    // A failure with code OK is a bug of the driver.
    case "none":
      // Until it is initialized, the VM costs money and is not in service.
      if (kind === "initialize") return { firstMs: 5 * SECOND, longestMs: 5 * SECOND };
      return { firstMs: 10 * SECOND, longestMs: kind === "delete" ? 10 * MINUTE : 3 * MINUTE };
  }
}

/** The bounds where a VM that has an id is not found: it may be listed late, or never. */
const unknownVm: BackoffBounds = { firstMs: 5 * SECOND, longestMs: 10 * MINUTE };

/** Maximum part of a backoff that jitter removes. */
const JITTER = 0.2;

/** The inputs of a backoff. */
export interface FailedAttempt {
  readonly code: MachineErrorCode;
  readonly kind: OperationKind;
  readonly failures: number;
  readonly jitter: number;
  readonly retryAfterMs?: number | undefined;
}

/**
 * The backoff after a failure, milliseconds: doubles with each attempt up to MCM's period, less up to a fifth so that retries are spread.
 * Never less than what the cloud requests.
 */
export function backoffMs(attempt: FailedAttempt, exhaustedRetryMs = DEFAULT_EXHAUSTED_RETRY_MS): number {
  const { code, kind, failures, jitter, retryAfterMs = 0 } = attempt;
  const { firstMs, longestMs } =
    code === "NotFound" && kind === "initialize"
      ? unknownVm
      : backoffBounds(retryClassOf(code), kind, exhaustedRetryMs);
  const delay = Math.min(longestMs, firstMs * 2 ** Math.min(30, failures - 1));
  return Math.max(Math.round(delay * (1 - JITTER * jitter)), retryAfterMs);
}

/**
 * Milliseconds until the call may be repeated; 0 when it may be repeated now. A change of the class or its secrets ends the backoff: a user
 * who fixes an invalid class sees the effect at once.
 */
export function msUntilRetry(failed: FailedOperation, inputs: string, now: Date, exhaustedRetryMs?: number): number {
  if (failed.inputs !== inputs) return 0;
  return Math.max(0, failed.endedAt + backoffMs(failed, exhaustedRetryMs) - now.getTime());
}

/** A number from 0 to 1 derived from a text (FNV-1a): the same for the same text, spread over different ones. */
export function jitterOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  // Mixes the last characters into all digits, or similar texts would have similar numbers.
  return ((Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0) % 1_000_000) / 1_000_000;
}
