import type { Machine } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import { findPausingCrd } from "../crd-guard/find-pausing-crd.ts";
import { crdHoldOfMachine } from "../crd-guard/crd-hold.ts";
import { type MachineOwners, protectionHold, protectorOf } from "../model/deletion-protection.ts";
import { recordedBudgetHold } from "../model/held-deletion.ts";
import type { Hold } from "../model/hold.ts";

/** The hold of a Machine that its object and its owners show. For commands that run beside the controllers, in the order of the guards. */
export function recordedHold(machine: Machine, owners: MachineOwners): Hold | undefined {
  if (machine.metadata.deletionTimestamp == null) return undefined;
  const protector = protectorOf(machine, owners);
  return protector === undefined ? recordedBudgetHold(machine, owners) : protectionHold(protector);
}

/** Whether a hold keeps a terminating Machine in its phase, so that its VM is in service. */
export const isHeld = (machine: Machine): boolean => recordedHold(machine, {})?.keepsPhase === true;

/**
 * The hold of a Machine, also where only a CRD shows it.
 *
 * @param readCrd a CRD by its name; `undefined` when it does not exist or cannot be read
 */
export async function findHold(
  machine: Machine,
  owners: MachineOwners,
  readCrd: (name: string) => Promise<ApiObject | undefined>,
): Promise<Hold | undefined> {
  const crd = await findPausingCrd(machine, readCrd);
  return crd === undefined ? recordedHold(machine, owners) : crdHoldOfMachine(crd);
}
