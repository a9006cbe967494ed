import type { Reason } from "../../decision.ts";
import type { OperationText } from "../status-change.ts";

/** A change of phase that the node calls for, with what is said about it. */
export interface Change {
  readonly phase: "Running" | "Unknown";
  readonly operation: OperationText;
  readonly because: Reason;
}
