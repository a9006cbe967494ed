import type { ListedMachine, ListMachinesResponse } from "@millwright/core";
import { allOrAbort } from "@millwright/core/driver-kit";
import { machineOfDisk, machineOfNic } from "./vm/machine-of-part.ts";
import type { AzureClass, MethodCall } from "./vm/method-call.ts";
import { isOfCluster, ownerTagKeys, tagOf, type Tags } from "./vm/owner-tags.ts";
import { providerIdOf } from "./vm/provider-id.ts";

/** Lists the machines of a cluster and role: those with a VM, and those with a leftover NIC or disk only. */
export async function listMachines(
  { spec }: AzureClass,
  { session, keys, context }: MethodCall,
): Promise<ListMachinesResponse> {
  const { resourceGroup, location, properties } = spec;
  const [vms, nics, disks] = await allOrAbort(context, [
    (own) => session.vms(resourceGroup, own),
    (own) => session.nics(resourceGroup, own),
    (own) => session.disks(resourceGroup, own),
  ]);
  const { dataDisks } = properties.storageProfile;
  // VMs first: their tags have precedence.
  const found: readonly (readonly [Tags | undefined, string | undefined, string?])[] = [
    ...vms.map(({ tags, name }) => [tags, name] as const),
    ...nics.map(({ tags, name = "" }) => [tags, machineOfNic(name, tags), `NIC ${name}`] as const),
    ...disks.map(({ tags, name = "" }) => [tags, machineOfDisk(name, tags, dataDisks), `disk ${name}`] as const),
  ];
  const machines = new Map<string, ListedMachine>();
  for (const [tags, machineName = "", part] of found) {
    const key = machineName.toLowerCase();
    if (machineName === "" || !isOfCluster(tags, keys)) continue;
    const known = machines.get(key);
    if (known !== undefined) {
      if (known.parts !== undefined && part !== undefined)
        machines.set(key, { ...known, parts: [...known.parts, part] });
      continue;
    }
    const machineUid = tagOf(tags, ownerTagKeys.machineUid);
    const machineNamespace = tagOf(tags, ownerTagKeys.namespace);
    machines.set(key, {
      providerId: providerIdOf(location, machineName),
      machineName,
      ...(machineUid === "" ? {} : { machineUid }),
      ...(machineNamespace === "" ? {} : { machineNamespace }),
      ...(part === undefined ? {} : { parts: [part] }),
    });
  }
  return { machines: [...machines.values()] };
}
