import { deletionEvents, deletionStages, type DeletionStage, machineEventReasons, stageOf } from "@millwright/core";
import type { MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusAt } from "./deletion-status.ts";
import { markedStage } from "../../model/marked-stage.ts";

const positionOf = (stage: DeletionStage): number => deletionStages.findIndex(({ name }) => name === stage);

/** The stage to repeat: the stored one, or the drain when this reconcile reached it; the status must not skip the stages after it. */
function stageToRepeat(snapshot: MachineSnapshot, { status }: MachineDecision): DeletionStage {
  const marked = markedStage(snapshot) ?? "GetVmStatus";
  const reached = stageOf(status?.lastOperation?.description) ?? marked;
  const isBeforeDrain = positionOf(marked) < positionOf("Drain") && positionOf(reached) >= positionOf("Drain");
  return isBeforeDrain ? "Drain" : marked;
}

/**
 * The decision after a reconcile of the deletion whose writes failed: the status contains why, in MCM's words where it has some, and the stage is repeated. `why` is
 * the message of the API server.
 */
export function interruptedDeletion(
  snapshot: MachineSnapshot,
  decision: MachineDecision,
  why: string,
  now: Date,
): MachineDecision {
  const stage = stageToRepeat(snapshot, decision);
  const happened = stage === "Drain" ? deletionEvents.drainFailed(why) : deletionEvents.stageFailed(why);
  const status = statusAt(snapshot, stage, happened, "Failed", now);
  const isReported = status.lastOperation?.description === snapshot.machine.status?.lastOperation?.description;
  const message = `${happened}; stage ${stage}`;
  return {
    actions: [],
    status,
    because: isReported ? [] : [{ type: "Warning", reason: machineEventReasons.deletionBlocked, message }],
  };
}
