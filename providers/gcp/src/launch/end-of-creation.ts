import type { MachineError } from "@millwright/core";
import { type Operation, operationError } from "../api/operation.ts";
import { type LeftoverDisk, removeLeftoverDisks } from "../vm/leftover-disks.ts";
import type { MethodCall } from "../vm/method-call.ts";
import { labelValueOf } from "../vm/owner-tags.ts";
import type { Launch, LaunchCandidate } from "./launch.ts";

/** The attempt, for errors. */
export const scopeOf = ({ project }: Launch, { machineType, zone }: LaunchCandidate): string =>
  `creating ${machineType} in ${zone} (${project})`;

/** The error of a creation that has failed. Deletes its leftovers, which are unused: Compute Engine itself deletes what belongs to the VM. */
export async function endOfCreation(
  operation: Operation,
  launch: Launch,
  candidate: LaunchCandidate,
  call: MethodCall,
): Promise<MachineError> {
  const { spec, project, machine, token } = launch;
  if (!spec.disks.every(({ autoDelete }) => autoDelete)) {
    const uid = labelValueOf(machine.uid);
    const label = labelValueOf(token);
    const isOfCreation = (disk: LeftoverDisk): boolean => disk.machineUid === uid && disk.token === label;
    await removeLeftoverDisks({ project, zone: candidate.zone }, isOfCreation, call);
  }
  // The request id stays bound to the failed operation.
  return operationError(operation, scopeOf(launch, candidate), { tokenIsSpent: true });
}
