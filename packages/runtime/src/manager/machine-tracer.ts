import type { Machine } from "@millwright/core/machine-api";
import type { EndedCall } from "../drivers/call-driver.ts";

/**
 * Follows machines for traces, such as that of `@millwright/tracing`. Its methods return at once and do not throw. Only the leader calls them: a trace is of what a
 * process does.
 */
export interface MachineTracer {
  /** A Machine is there, has changed, or is gone (`after` is absent). The first call about one may come at any time of its life. */
  changed(before: Machine | undefined, after: Machine | undefined, nowMs: number): void;
  /** A call of a driver about a machine has ended. */
  called(call: EndedCall, nowMs: number): void;
}
