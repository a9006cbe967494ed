import { type Machine, machineSetResource, type MachineSet } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { createLostOwners, type LostOwners } from "./lost-owners.ts";

/** Machines whose MachineSet does not exist by the UID that they name. */
export interface LostMachines extends LostOwners {
  list(): readonly Machine[];
  /** Calls `listener` with each machine whose set does not exist any more. */
  onLost(listener: (machine: Machine) => void): void;
}

/** Follows the machines of a namespace, so that no reconcile has to look at all of them. */
export function trackLostMachines(context: Pick<ControllerContext, "control" | "namespace" | "caches">): LostMachines {
  const { machines, sets } = context.caches;
  const owners = createLostOwners<MachineSet>(context, machineSetResource, sets.store);
  /** UIDs of missing sets with machines. */
  const missing = new Set<string>();
  const machinesOf = (uid: string): readonly Machine[] => machines.store.byIndex("owner", uid);
  // Only an event of a set ends that it is missing, so that an event of a machine costs the same however many others there are.
  machines.store.subscribe((_, machine) => {
    const controller = machine && controllerRefOf(machine);
    if (controller !== undefined && owners.isMissing(controller)) missing.add(controller.uid);
  });
  const listeners: ((machine: Machine) => void)[] = [];
  sets.store.subscribe((old, current) => {
    missing.delete(current?.metadata.uid ?? "");
    const { uid = "" } = old?.metadata ?? {};
    if (old === undefined || current?.metadata.uid === uid) return;
    missing.add(uid);
    for (const machine of machinesOf(uid)) for (const listener of listeners) listener(machine);
  });
  /** The machines of a missing set, which is forgotten with the last of them. */
  const left = (uid: string): readonly Machine[] => {
    const found = machinesOf(uid);
    if (found.length === 0) missing.delete(uid);
    return found;
  };
  return {
    ...owners,
    list: () => [...missing].flatMap(left),
    onLost: (listener) => void listeners.push(listener),
  };
}
