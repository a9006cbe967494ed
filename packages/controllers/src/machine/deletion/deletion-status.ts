import type { DeletionStage, MachineStatus, OperationEvents, OperationState } from "@millwright/core";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { markedStage } from "../../model/marked-stage.ts";

/** The status with the driver's state of the last deletion call; a result without one clears it (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow). */
function withLastKnownState({ machine, operation }: MachineSnapshot): MachineStatus {
  if (operation?.kind !== "delete" || (operation.state !== "done" && operation.state !== "failed"))
    return statusOf(machine);
  const { lastKnownState: _, ...rest } = statusOf(machine);
  const lastKnownState = operation.state === "done" ? operation.result.lastKnownState : operation.lastKnownState;
  return lastKnownState === undefined ? rest : { ...rest, lastKnownState };
}

/**
 * The status of a deletion that continues with a stage. It is kept when the stage
 * is the same and there is no new result.
 */
export function statusAt(
  snapshot: MachineSnapshot,
  stage: DeletionStage,
  happened: OperationEvents | undefined,
  state: OperationState,
  now: Date,
): MachineStatus {
  const { currentStatus, ...rest } = withLastKnownState(snapshot);
  const { preserveExpiryTime: _, ...kept } = currentStatus ?? {};
  const status: MachineStatus = { ...rest, ...(currentStatus === undefined ? {} : { currentStatus: kept }) };
  if (happened === undefined && stage === markedStage(snapshot)) return status;
  const operation = { description: happened ?? "", stage, state, type: "Delete" } as const;
  return withPhase(withOperation(status, operation, now), "Terminating", now);
}
