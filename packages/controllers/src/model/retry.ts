import { type MachineErrorCode, type RetryClass, retryClassOf } from "@millwright/core";
import type { FailedOperation, OperationKind } from "./operation.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** MCM's period for used-up quota and capacity, flag `--resource-exhausted-retry`, milliseconds. */
export const DEFAULT_EXHAUSTED_RETRY_MS = 10 * MINUTE;

/** The delays of a call that fails again and again, milliseconds. */
export interface BackoffBounds {
  readonly firstMs: number;
  /** Each delay is twice the one before, up to this: the delay of MCM (`pkg/util/provider/machineutils/utils.go`; `triggerCreationFlow` and `triggerDeletionFlow` in `pkg/util/provider/machinecontroller/machine.go`). */
  readonly longestMs: number;
}

/** Between which bounds the delays of a call grow. docs/drivers.md shows them. */
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
    // A failure that calls itself OK is a fault of the driver.
    case "none":
      // The VM costs money and serves no one before it is initialized.
      if (kind === "initialize") return { firstMs: 5 * SECOND, longestMs: 5 * SECOND };
      return { firstMs: 10 * SECOND, longestMs: kind === "delete" ? 10 * MINUTE : 3 * MINUTE };
  }
}

/** Part of a delay that jitter may take away. */
const JITTER = 0.2;

/** A call that failed, as far as its next time depends on it. */
export interface FailedAttempt {
  readonly code: MachineErrorCode;
  readonly kind: OperationKind;
  readonly failures: number;
  readonly jitter: number;
  readonly retryAfterMs?: number | undefined;
}

/**
 * Milliseconds after a failure until the next try: doubles from try to try up to MCM's period, less up to a fifth so that not all come at once
 *. What the cloud asks for is never undercut.
 */
export function backoffMs(attempt: FailedAttempt, exhaustedRetryMs = DEFAULT_EXHAUSTED_RETRY_MS): number {
  const { code, kind, failures, jitter, retryAfterMs = 0 } = attempt;
  const { firstMs, longestMs } = backoffBounds(retryClassOf(code), kind, exhaustedRetryMs);
  const delay = Math.min(longestMs, firstMs * 2 ** Math.min(30, failures - 1));
  return Math.max(Math.round(delay * (1 - JITTER * jitter)), retryAfterMs);
}

/**
 * Milliseconds until the call may be made again; 0 when it may be made now. A change of the class or its secrets ends the wait: whoever
 * mends what a driver refused sees the effect at once.
 */
export function msUntilRetry(failed: FailedOperation, inputs: string, now: Date, exhaustedRetryMs?: number): number {
  if (failed.inputs !== inputs) return 0;
  return Math.max(0, failed.endedAt + backoffMs(failed, exhaustedRetryMs) - now.getTime());
}

/** A number from 0 to 1 that follows from a text (FNV-1a): the same for the same text, spread over different ones. */
export function jitterOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  // The low digits of the last characters are mixed in once more, or neighbours would stay neighbours.
  return ((Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0) % 1_000_000) / 1_000_000;
}
