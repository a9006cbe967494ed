import { retryClassOf } from "@millwright/core";
import type { FailedOperation, OperationKind } from "./operation.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Delays before a failed driver call is tried again (machine-controller.md, section 0 and 1.4). */
const delays = {
  transient: { create: 5 * SECOND, find: 5 * SECOND, delete: 5 * SECOND },
  exhausted: { create: 10 * MINUTE, find: 10 * MINUTE, delete: 10 * MINUTE },
  persistent: { create: 3 * MINUTE, find: 3 * MINUTE, delete: 10 * MINUTE },
  // A failure that calls itself OK is a fault of the driver.
  none: { create: 3 * MINUTE, find: 3 * MINUTE, delete: 10 * MINUTE },
} as const satisfies Record<string, Record<OperationKind, number>>;

/**
 * Milliseconds until the call may be made again; 0 when it may be made now. A change of the class or its secrets ends the wait: whoever
 * mends what a driver refused sees the effect at once.
 */
export function untilRetry(failed: FailedOperation, inputs: string, now: Date): number {
  if (failed.inputs !== inputs) return 0;
  const delay = Math.max(delays[retryClassOf(failed.code)][failed.kind], failed.retryAfterMs ?? 0);
  return Math.max(0, failed.endedAt + delay - now.getTime());
}
