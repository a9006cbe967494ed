import { type Machine, machineSetResource, type MachineSet } from "@millwright/core";
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
  const isLost = (machine: Machine): boolean => {
    const controller = controllerRefOf(machine);
    return controller !== undefined && owners.isMissing(controller);
  };
  const check = (uid: string): void => {
    if (machinesOf(uid).some(isLost)) missing.add(uid);
    else missing.delete(uid);
  };
  machines.store.subscribe((old, current) => {
    const uids = [old, current].map((machine) => (machine && controllerRefOf(machine))?.uid);
    for (const uid of new Set(uids)) if (uid !== undefined) check(uid);
  });
  const listeners: ((machine: Machine) => void)[] = [];
  sets.store.subscribe((old, current) => {
    for (const { metadata } of [old, current].filter((set) => set !== undefined)) check(metadata.uid ?? "");
    const { uid = "" } = old?.metadata ?? {};
    if (!missing.has(uid) || current?.metadata.uid === uid) return;
    for (const machine of machinesOf(uid)) for (const listener of listeners) listener(machine);
  });
  return {
    ...owners,
    list: () => [...missing].flatMap(machinesOf),
    onLost: (listener) => void listeners.push(listener),
  };
}
