import { machineEventReasons } from "@millwright/core";
import type { CrdState } from "../../model/crd-state.ts";
import { deletionPausedMessage } from "../../crd-guard/paused-messages.ts";
import { type MachineDecision, nothing } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation } from "../../model/status-change.ts";
import { recordIds } from "../state/vm-ids.ts";
import { statusAt } from "./deletion-status.ts";
import { markedStage } from "../../model/marked-stage.ts";

/**
 * Keeps a machine that is terminating because of a CRD: its VM, its node, its finalizer, and its phase, since the VM is still in service. A deletion that had reached a stage stays at that
 * stage. A VM that is being created is recorded, so that it is known when the object is recreated.
 */
export function decidePausedDeletion(snapshot: MachineSnapshot, crd: CrdState, now: Date): MachineDecision {
  const { machine, operation } = snapshot;
  if (operation?.kind === "create" && operation.state === "running") return nothing;
  if (operation?.kind === "create" && operation.state === "done")
    return { actions: recordIds(snapshot, operation.result), because: [] };
  const message = deletionPausedMessage(crd);
  const stage = markedStage(snapshot);
  const status =
    stage === undefined
      ? withOperation(statusOf(machine), { description: message, state: "Processing", type: "Delete" }, now)
      : statusAt(snapshot, stage, message, "Processing", now);
  const isReported = status.lastOperation?.description === machine.status?.lastOperation?.description;
  return {
    actions: [],
    status,
    because: isReported ? [] : [{ type: "Warning", reason: machineEventReasons.deletionPaused, message }],
  };
}
