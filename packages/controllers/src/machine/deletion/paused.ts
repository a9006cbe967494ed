import { machineEventReasons, type MachineStatus } from "@millwright/core";
import type { CrdState } from "../../model/crd-state.ts";
import { type Protector, protectedMachineMessage } from "../../model/deletion-protection.ts";
import { deletionPausedMessage } from "../../crd-guard/paused-messages.ts";
import { type MachineDecision, nothing } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation } from "../../model/status-change.ts";
import { recordIds } from "../state/vm-ids.ts";
import { statusAt } from "./deletion-status.ts";
import { markedStage } from "../../model/marked-stage.ts";

/** Keeps VM, node and finalizer of a terminating machine. A VM that is being created is recorded. `status` contains why. */
function paused(snapshot: MachineSnapshot, message: string, status: () => MachineStatus): MachineDecision {
  const { machine, operation } = snapshot;
  if (operation?.kind === "create" && operation.state === "running") return nothing;
  if (operation?.kind === "create" && operation.state === "done")
    return { actions: recordIds(snapshot, operation.result), because: [] };
  const after = status();
  const isReported = after.lastOperation?.description === machine.status?.lastOperation?.description;
  return {
    actions: [],
    status: after,
    because: isReported ? [] : [{ type: "Warning", reason: machineEventReasons.deletionPaused, message }],
  };
}

/**
 * Keeps a machine that is terminating because of a CRD: its VM, its node, its finalizer, and its phase, since the VM is still in service. A deletion that had reached a stage stays at that
 * stage. A VM that is being created is recorded, so that it is known when the object is recreated.
 */
function pausedByCrd(snapshot: MachineSnapshot, crd: CrdState, now: Date): MachineDecision {
  const message = deletionPausedMessage(crd);
  return paused(snapshot, message, () => {
    const stage = markedStage(snapshot);
    return stage === undefined
      ? withOperation(statusOf(snapshot.machine), { description: message, state: "Processing", type: "Delete" }, now)
      : statusAt(snapshot, stage, message, "Processing", now);
  });
}

/** Whether the VM of a terminating machine may still be kept: its deletion is neither requested nor done. */
function isVmKept(snapshot: MachineSnapshot): boolean {
  const { operation } = snapshot;
  const stage = markedStage(snapshot);
  if (stage === "DeleteNode" || stage === "RemoveFinalizer") return false;
  return operation?.kind !== "delete" || operation.state === "failed";
}

/**
 * Keeps a machine that deletion protection keeps, at the stage that its deletion has reached. It is Terminating: its set does not count it any more, and MCM would continue. `undefined` when the
 * deletion of its VM was requested before: there is nothing left to protect.
 */
function protectedFromDeletion(
  snapshot: MachineSnapshot,
  protector: Protector,
  now: Date,
): MachineDecision | undefined {
  if (!isVmKept(snapshot)) return undefined;
  const message = protectedMachineMessage(protector);
  const stage = markedStage(snapshot) ?? "GetVmStatus";
  return paused(snapshot, message, () => statusAt(snapshot, stage, message, "Processing", now));
}

/** The decision about a terminating machine whose deletion is paused, by a CRD or by deletion protection; `undefined` when it continues. */
export function decidePausedDeletion(snapshot: MachineSnapshot, now: Date): MachineDecision | undefined {
  const { machine, pausedBy, protectedBy } = snapshot;
  if (machine.metadata.deletionTimestamp == null) return undefined;
  if (pausedBy !== undefined) return pausedByCrd(snapshot, pausedBy, now);
  return protectedBy === undefined ? undefined : protectedFromDeletion(snapshot, protectedBy, now);
}
