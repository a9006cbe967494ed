import type { Reason } from "../../model/decision.ts";
import type { OperationText } from "../../model/status-change.ts";

/** A change of phase, with the description and event. */
export interface Change {
  readonly phase: "Running" | "Unknown";
  readonly operation: OperationText;
  readonly because: Reason;
}
