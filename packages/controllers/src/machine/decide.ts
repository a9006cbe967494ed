import { finalizers, formatProblems, machineEventReasons, phaseOf } from "@millwright/core";
import { addFinalizerPatch } from "../ownership/finalizer-patch.ts";
import { hasId } from "../model/provisioning.ts";
import { decideCreation, needsCreation } from "./creation/decide-creation.ts";
import { intentAnnotation, isStored, readIntent } from "../model/creation-intent.ts";
import { unmetPrecondition } from "./creation/reject-machine.ts";
import { plannedIntent } from "./creation/start-creation.ts";
import { withTokenRemoval } from "./creation/token-removal.ts";
import { decideDeletion } from "./deletion/decide-deletion.ts";
import { decidePausedDeletion } from "./deletion/paused.ts";
import { decideHealth } from "./health/decide-health.ts";
import { decideNodeSync } from "./node-sync/decide-node-sync.ts";
import { decideInPlace } from "./in-place/decide-in-place.ts";
import { runSteps } from "./run-steps.ts";
import type { MachineDecision } from "./state/decision.ts";
import { decidePreservation } from "./preservation/decide-preservation.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";

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
  if (snapshot.operation?.state === "waiting" && !mayStillBeMade(snapshot)) {
    const decision = decideMachine({ ...snapshot, operation: undefined }, now);
    return { ...decision, actions: [{ kind: "CancelOperation" }, ...decision.actions] };
  }
  if (machine.metadata.deletionTimestamp != null && snapshot.pausedBy !== undefined)
    return decidePausedDeletion(snapshot, snapshot.pausedBy, now);
  if (machine.metadata.deletionTimestamp != null) return withTokenRemoval(snapshot, decideDeletion(snapshot, now));
  if (machine.metadata.finalizers?.includes(finalizers.machine) !== true) {
    return { actions: [{ kind: "PatchMachine", patch: firstPatch(snapshot) }], because: [] };
  }
  if (needsCreation(snapshot)) return decideWithoutVm(snapshot, now);
  const decision = runSteps(snapshot, now, [decideHealth, decideNodeSync, decideInPlace, decidePreservation]);
  return withTokenRemoval(snapshot, decision);
}

/** Whether a creation that waits for its turn is still wanted: meanwhile the machine may have been deleted or given up, or may have got a VM from elsewhere. */
function mayStillBeMade(snapshot: MachineSnapshot): boolean {
  const { machine } = snapshot;
  return (
    machine.metadata.deletionTimestamp === undefined &&
    needsCreation(snapshot) &&
    !hasId(machine) &&
    readIntent(machine)?.staleNode === undefined
  );
}

/** The finalizer, and in the same write, where the machine can be created, what is going to be asked of its driver. */
function firstPatch(snapshot: MachineSnapshot): object {
  const { machine } = snapshot;
  const patch = addFinalizerPatch(machine, finalizers.machine);
  const intent = needsCreation(snapshot) && !hasId(machine) ? plannedIntent(snapshot) : undefined;
  if (intent === undefined || unmetPrecondition(snapshot) !== undefined || isStored(machine, intent)) return patch;
  return { metadata: { ...patch.metadata, annotations: intentAnnotation(intent) } };
}

/** A node that is healthy already proves more than a driver that fails to initialize its VM (row 6 of the phase transitions). */
function decideWithoutVm(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine, node } = snapshot;
  if (node === undefined || !hasId(machine) || phaseOf(machine) !== "CrashLoopBackOff")
    return runSteps(snapshot, now, [decideCreation, decidePreservation]);
  return withTokenRemoval(snapshot, runSteps(snapshot, now, [decideHealth, decideCreation, decidePreservation]));
}
