import type { ListedMachine, ListMachinesResponse } from "@millwright/core";
import type { AzureClass, MethodCall } from "./method-call.ts";
import { machineOfDisk, machineOfNic } from "./names.ts";
import { isOfCluster, ownerTagKeys, tagOf, type Tags } from "./owner-tags.ts";
import { providerIdOf } from "./provider-id.ts";

interface Named {
  readonly tags?: Tags;
  readonly machineName: string | undefined;
}

/** Lists the machines of a cluster and role: those with a VM, and those of which only a NIC or a disk is left. */
export async function listMachines(
  { spec }: AzureClass,
  { session, keys, context }: MethodCall,
): Promise<ListMachinesResponse> {
  const { resourceGroup, location, properties } = spec;
  const [vms, nics, disks] = await Promise.all([
    session.vms(resourceGroup, context),
    session.nics(resourceGroup, context),
    session.disks(resourceGroup, context),
  ]);
  const { dataDisks } = properties.storageProfile;
  const named = (tags: Tags | undefined, fallback: string | undefined): Named => {
    const machine = tagOf(tags, ownerTagKeys.machine);
    return { ...(tags === undefined ? {} : { tags }), machineName: machine === "" ? fallback : machine };
  };
  // VMs first: what they say of a machine counts.
  const found: readonly Named[] = [
    ...vms.map(({ tags, name }) => ({ ...named(tags, name), machineName: name })),
    ...nics.map(({ tags, name = "" }) => named(tags, machineOfNic(name))),
    ...disks.map(({ tags, name = "" }) => named(tags, machineOfDisk(name, dataDisks))),
  ];
  const machines = new Map<string, ListedMachine>();
  for (const { tags, machineName = "" } of found) {
    const key = machineName.toLowerCase();
    if (machineName === "" || machines.has(key) || !isOfCluster(tags, keys)) continue;
    const machineUid = tagOf(tags, ownerTagKeys.machineUid);
    machines.set(key, {
      providerId: providerIdOf(location, machineName),
      machineName,
      ...(machineUid === "" ? {} : { machineUid }),
    });
  }
  return { machines: [...machines.values()] };
}
