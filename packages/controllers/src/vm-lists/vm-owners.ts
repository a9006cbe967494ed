import { providerIdKey } from "@millwright/core/driver-host";
import type { Machine } from "@millwright/core/machine-api";
import { keyOf } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import type { VmOwners } from "../model/vm-holder.ts";
import type { VmLists } from "./vm-lists.ts";

/**
 * Finds out for which Machine a VM was created as soon as several name it: their classes are listed then. A VM that one Machine names costs nothing, and neither does a driver without lists: the older
 * Machine keeps the VM then. Kept in memory: the next process lists again.
 */
export function createVmOwners(
  { caches: { machines, classes }, namespace }: ControllerContext,
  lists: Pick<VmLists, "onList" | "request">,
): VmOwners {
  /** Names of Machines by key of the provider id, by UID of the class whose list contains the VM. */
  const byClass = new Map<string, ReadonlyMap<string, string>>();
  const listeners: ((key: string) => void)[] = [];
  const claimantsOf = (key: string): readonly Machine[] => machines.store.byIndex("providerId", key);

  lists.onList(async ({ machineClass, vms }) => {
    const { uid = "" } = machineClass.metadata;
    const owners = new Map<string, string>();
    for (const { providerId, machineName, machineNamespace = namespace } of vms) {
      const key = providerIdKey(providerId);
      if (key !== undefined && machineNamespace === namespace && claimantsOf(key).length > 1)
        owners.set(key, machineName);
    }
    const before = byClass.get(uid);
    byClass.set(uid, owners);
    for (const [key, owner] of owners) {
      if (before?.get(key) === owner) continue;
      for (const machine of claimantsOf(key)) for (const listener of listeners) listener(keyOf(machine));
    }
  });

  machines.store.subscribe((old, current) => {
    const key = providerIdKey(current?.spec.providerID);
    if (key === undefined || old?.spec.providerID === current?.spec.providerID) return;
    const claimants = claimantsOf(key);
    if (claimants.length < 2) return;
    for (const name of new Set(claimants.map(({ spec }) => spec.class?.name ?? ""))) {
      const machineClass = classes.store.getByRef({ namespace, name });
      if (machineClass !== undefined) lists.request(machineClass, 0);
    }
  });

  return {
    ownerOf(providerId) {
      const key = providerIdKey(providerId) ?? "";
      for (const owners of byClass.values()) {
        const owner = owners.get(key);
        if (owner !== undefined) return owner;
      }
      return undefined;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
