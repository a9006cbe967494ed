import { type Machine, phaseOf } from "@millwright/core";

/** The phases in which machines are created. In other phases a machine without id keeps its phase. */
export function isProvisioning(machine: Machine): boolean {
  const phase = phaseOf(machine);
  return phase === "" || phase === "CrashLoopBackOff";
}

/** Whether the id of the VM is stored. */
export const hasId = ({ spec }: Machine): boolean => spec.providerID !== undefined && spec.providerID !== "";
