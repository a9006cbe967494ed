import { deletionEvents, deletionStages, type DeletionStage, machineEventReasons, stageOf } from "@millwright/core";
import type { MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusAt } from "./deletion-status.ts";
import { markedStage } from "../../model/marked-stage.ts";

const positionOf = (stage: DeletionStage): number => deletionStages.findIndex(({ name }) => name === stage);

/** The stage to repeat: where the flow stood, or the drain, if the pass came as far: nothing fails before it that the status must not pass over. */
function stageToRepeat(snapshot: MachineSnapshot, { status }: MachineDecision): DeletionStage {
  const marked = markedStage(snapshot) ?? "GetVmStatus";
  const reached = stageOf(status?.lastOperation?.description) ?? marked;
  const isBeforeDrain = positionOf(marked) < positionOf("Drain") && positionOf(reached) >= positionOf("Drain");
  return isBeforeDrain ? "Drain" : marked;
}

/**
 * What is left of a pass of the deletion whose writes were refused: the status says why nothing goes on, in MCM's words where it has some, and the stage is repeated. `why` is
 * what the API server said.
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
