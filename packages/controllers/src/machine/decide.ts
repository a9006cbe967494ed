import { finalizers, formatProblems, machineEventReasons } from "@millwright/core";
import { addFinalizerPatch } from "../ownership/finalizer-patch.ts";
import { decideCreation, needsCreation } from "./creation/decide-creation.ts";
import { decideDeletion } from "./decide-deletion.ts";
import { decideHealth } from "./health/decide-health.ts";
import { decideNodeSync } from "./node-sync/decide-node-sync.ts";
import { decideInPlace } from "./in-place/decide-in-place.ts";
import { inTurn } from "./in-turn.ts";
import type { MachineDecision } from "./decision.ts";
import { decidePreservation } from "./preservation/decide-preservation.ts";
import type { MachineSnapshot } from "./snapshot.ts";

/**
 * Decides the next step of a Machine. One of three things is going on: it is being taken apart, it is being created, or it lives and follows its
 * node. The finalizer comes before everything that could leave a VM behind.
 */
export function decideMachine(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine } = snapshot;
  // Whether there is a VM, and where the deletion stands, cannot be known: any step could leave a VM behind or make a second one.
  if (!snapshot.isReadable) {
    return {
      actions: [],
      because: [
        { type: "Warning", reason: machineEventReasons.invalidMachine, message: formatProblems(snapshot.problems) },
      ],
    };
  }
  if (machine.metadata.deletionTimestamp != null) return decideDeletion(snapshot, now);
  if (machine.metadata.finalizers?.includes(finalizers.machine) !== true) {
    return { actions: [{ kind: "PatchMachine", patch: addFinalizerPatch(machine, finalizers.machine) }], because: [] };
  }
  if (needsCreation(snapshot)) return decideCreation(snapshot, now);
  return inTurn(snapshot, now, [decideHealth, decideNodeSync, decideInPlace, decidePreservation]);
}
