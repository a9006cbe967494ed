import { eventReasons } from "@millwright/core";
import { HELD_RETRY_MS } from "../../deletion-budget/held-condition.ts";
import { heldDeletionMessage } from "../../model/held-deletion.ts";
import { statusOf, withOperation } from "../../model/status-change.ts";
import type { MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/**
 * Keeps a machine whose deletion the deletion budget does not allow: its VM, its node, its finalizer and its phase. Its deployment reports how many are held; a machine without one has the event itself. `undefined` when nothing holds it.
 */
export function decideHeldDeletion({ machine, heldBy: hold }: MachineSnapshot, now: Date): MachineDecision | undefined {
  if (hold === undefined || machine.metadata.deletionTimestamp == null) return undefined;
  if (hold.verdict === "wait") return { actions: [], because: [], requeueAfterMs: hold.forMs };
  const message = heldDeletionMessage(hold.held, hold.approver);
  const status = withOperation(statusOf(machine), { description: message, state: "Processing", type: "Delete" }, now);
  const isReported = machine.status?.lastOperation?.description === message;
  return {
    actions: [],
    status,
    because:
      isReported || hold.approver.kind !== "Machine"
        ? []
        : [{ type: "Warning", reason: eventReasons.deletionsHeld, message }],
    requeueAfterMs: HELD_RETRY_MS,
  };
}
