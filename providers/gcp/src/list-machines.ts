import type { ListMachinesResponse } from "@millwright/core";
import { isInCluster } from "./spec/cluster-keys.ts";
import { zonesOf } from "./vm/find-vm.ts";
import type { GcpClass, MethodCall } from "./vm/method-call.ts";
import { ownerLabelKeys } from "./vm/owner-tags.ts";
import { providerIdOf } from "./vm/provider-id.ts";

/** A UID as the API server makes it; anything else stands in the label as a hash. */
const isUid = (value: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);

/** Lists the VMs of a cluster and role in the zones of a class. */
export async function listMachines(
  { spec }: GcpClass,
  { session, keys, context }: MethodCall,
): Promise<ListMachinesResponse> {
  const { project } = session;
  const lists = await Promise.all(zonesOf(spec).map((zone) => session.all({ project, zone }, context)));
  return {
    machines: lists
      .flat()
      .filter(({ tags }) => isInCluster(tags, keys))
      .map(({ place, name, labels }) => {
        const machineUid = labels[ownerLabelKeys.machineUid] ?? "";
        const machineNamespace = labels[ownerLabelKeys.namespace] ?? "";
        return {
          providerId: providerIdOf(place, name),
          machineName: name,
          ...(isUid(machineUid) ? { machineUid } : {}),
          // A namespace is a valid value of a label as it is.
          ...(machineNamespace === "" ? {} : { machineNamespace }),
        };
      }),
  };
}
