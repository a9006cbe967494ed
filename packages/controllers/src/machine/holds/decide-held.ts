import { isReported } from "@millwright/core/machine-api";
import type { Hold } from "../../model/hold.ts";
import { markedStage } from "../../model/phase.ts";
import { statusOf, withOperation } from "../../model/status-change.ts";
import { statusAt, finishCreation } from "../deletion/decide-deletion.ts";
import { type MachineDecision, nothing } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { decideConflict } from "./conflict.ts";
import { decideUnreadTarget } from "./unread-target.ts";

/** A decision about a machine that is held. */
type HeldDecision = (snapshot: MachineSnapshot, hold: Hold, now: Date) => MachineDecision;

/**
 * Keeps VM, node and finalizer of a terminating machine, at the stage that its deletion has reached. A VM that is being created is recorded, so that it is known when the object is recreated or its deletion goes on.
 * The status contains why, and the event is recorded once.
 */
function keepMachine(snapshot: MachineSnapshot, hold: Hold, now: Date): MachineDecision {
  const { machine } = snapshot;
  const { message, event, keepsPhase = false, requeueAfterMs } = hold;
  const requeue = requeueAfterMs === undefined ? {} : { requeueAfterMs };
  if (hold.isUnknown === true) return { ...nothing, ...requeue };
  const creation = finishCreation(snapshot);
  if (creation !== undefined) return creation;
  const stage = markedStage(snapshot) ?? (keepsPhase ? undefined : "GetVmStatus");
  const reason = hold.approver === undefined ? "DeletionPaused" : "DeletionHeld";
  const description = { reason, text: message, deletionHold: hold.stalls } as const;
  const status =
    stage === undefined
      ? withOperation(statusOf(machine), { description, state: "Processing", type: "Delete" }, now)
      : statusAt(snapshot, stage, description, "Processing", now);
  return {
    actions: [],
    status,
    because: event === undefined || isReported(statusOf(machine), description, stage) ? [] : [{ ...event, message }],
    ...requeue,
  };
}

/** Holds under which a machine does more than wait, by their guard. */
const others: Readonly<Record<string, HeldDecision>> = {
  conflict: decideConflict,
  "unread-target": decideUnreadTarget,
};

/** The decision about a machine that is held, whatever holds it. */
export const decideHeld: HeldDecision = (snapshot, hold, now) => (others[hold.by] ?? keepMachine)(snapshot, hold, now);
