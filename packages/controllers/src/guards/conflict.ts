import { type Machine, vmOfOtherMachine } from "@millwright/core/machine-api";
import type { Guard } from "../model/hold.ts";
import { hasId } from "../model/provisioning.ts";
import type { VmHolder } from "../model/vm-holder.ts";

/**
 * Holds Machines whose VM belongs to another Machine.
 *
 * @param holderOf that other Machine
 * @param onChange follows what is found out about it
 */
export const conflictGuard = (
  holderOf: (machine: Machine) => VmHolder | undefined,
  onChange: (listener: (machine: Machine) => void) => void,
): Guard<Machine> => ({
  name: "conflict",
  of(machine) {
    const holder = holderOf(machine);
    if (holder === undefined || (!hasId(machine) && machine.metadata.deletionTimestamp == null)) return "proceed";
    return {
      by: "conflict",
      holds: "everything",
      message: vmOfOtherMachine(machine.metadata.name, holder.providerId, holder.name),
      remedy: `Delete Machine ${machine.metadata.name}; the VM is kept`,
    };
  },
  onChange,
});
