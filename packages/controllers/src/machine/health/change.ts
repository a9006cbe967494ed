import type { Reason } from "../../model/decision.ts";
import type { OperationText } from "../../model/status-change.ts";

/** A change of phase that the node calls for, with what is said about it. */
export interface Change {
  readonly phase: "Running" | "Unknown";
  readonly operation: OperationText;
  readonly because: Reason;
}
