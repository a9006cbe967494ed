import type { ListedMachine } from "@millwright/core";
import { type MachineSet, machineNameIn } from "@millwright/core/machine-api";
import { expectedReplicasOf } from "../machine-set/expected-replicas.ts";

/** Whether a set may have given a machine this name. */
export const isNameIn = (setName: string, machineName: string): boolean =>
  machineNameIn(setName, machineName.slice(machineName.lastIndexOf("-") + 1)) === machineName;

/** VMs without those of machines that sets have lost: these wait for a person, also when the set was scaled down meanwhile. */
export function withoutAwaiting(vms: readonly ListedMachine[], sets: readonly MachineSet[]): readonly ListedMachine[] {
  const waiting = sets.filter((set) => expectedReplicasOf(set) !== undefined).map(({ metadata }) => metadata.name);
  return vms.filter(({ machineName }) => !waiting.some((name) => isNameIn(name, machineName)));
}
