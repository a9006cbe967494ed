import { type Machine, type MachineStatus, phaseOf, readOperation } from "@millwright/core/machine-api";

/** The phases in which machines are created. In other phases a machine without id keeps its phase. */
export function isProvisioning(machine: Machine): boolean {
  const phase = phaseOf(machine);
  return phase === "" || phase === "CrashLoopBackOff";
}

/** Whether the id of the VM is stored. */
export const hasId = ({ spec }: Machine): boolean => spec.providerID !== undefined && spec.providerID !== "";

/**
 * Whether the machine has no VM yet, or its VM is not in its status yet. A Failed machine gets no VM: it is replaced, and a VM
 * created now could be orphaned.
 */
export function needsCreation({ machine }: { readonly machine: Machine }): boolean {
  const phase = phaseOf(machine);
  // An unknown phase of another version may mean that there is a VM.
  return phase !== undefined && phase !== "Failed" && (!hasId(machine) || isProvisioning(machine));
}

/** Whether the infrastructure has accepted the creation of the VM, perhaps by a call of another process. */
export const isProvisioningVm = (status: MachineStatus): boolean =>
  status.lastOperation?.type === "Create" &&
  status.lastOperation.state === "Processing" &&
  readOperation(status).reason === "ProvisioningVm";
