import { machineEventReasons } from "@millwright/core";
import type { CrdState } from "../../model/crd-state.ts";
import { heldText } from "../../crd-guard/hold-texts.ts";
import { type MachineDecision, nothing } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation } from "../../model/status-change.ts";
import { recordIds } from "../state/vm-ids.ts";
import { statusAt } from "./deletion-status.ts";
import { markedStage } from "../../model/marked-stage.ts";

/**
 * Keeps a machine that is on its way out because a definition was deleted: its VM, its node, its finalizer, and its phase, for the VM goes on serving. What it says names definition and
 * remedy. A deletion that had come to a stage stays at that stage. A VM that is being made is recorded, so that whoever takes the object over knows it.
 */
export function decideHeld(snapshot: MachineSnapshot, definition: CrdState, now: Date): MachineDecision {
  const { machine, operation } = snapshot;
  if (operation?.kind === "create" && operation.state === "running") return nothing;
  if (operation?.kind === "create" && operation.state === "done")
    return { actions: recordIds(snapshot, operation.result), because: [] };
  const message = heldText(definition);
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
