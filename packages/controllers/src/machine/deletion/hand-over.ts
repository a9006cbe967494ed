import { finalizers, type MachineStatus, phaseOf } from "@millwright/core/machine-api";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusAt } from "./decide-deletion.ts";

/**
 * The status with which a stopping process leaves a machine whose deletion it has not started, and `undefined` where it leaves all as it is. MCM counts a
 * machine by its phase, not by its deletion timestamp (MCM, `pkg/controller/machineset.go`): with the old phase it would delete
 * another machine instead, or one too many. A machine that a hold keeps in its phase stays so.
 */
export function handOverStatus(snapshot: MachineSnapshot, now: Date): MachineStatus | undefined {
  const { machine, hold } = snapshot;
  const { deletionTimestamp, finalizers: held = [] } = machine.metadata;
  if (deletionTimestamp == null || phaseOf(machine) === "Terminating") return undefined;
  if (hold?.keepsPhase === true || !held.includes(finalizers.machine)) return undefined;
  return statusAt(snapshot, "GetVmStatus", undefined, "Processing", now);
}
