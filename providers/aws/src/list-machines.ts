import type { ListMachinesResponse } from "@millwright/core";
import type { MethodCall } from "./vm/method-call.ts";
import { ownerTagKeys } from "./vm/owner-tags.ts";
import { providerIdOf } from "./vm/provider-id.ts";

/** Lists the VMs of a cluster and role. */
export async function listMachines({ session, keys, context }: MethodCall): Promise<ListMachinesResponse> {
  const vms = await session.all(keys, context);
  return {
    machines: vms.flatMap(({ id, region, tags }) => {
      const machineName = tags.get(ownerTagKeys.name) ?? "";
      const machineUid = tags.get(ownerTagKeys.machineUid) ?? "";
      if (machineName === "") {
        // Whatever is listed and has no machine is deleted: this was not made by a driver.
        context.log("warn", "A VM with the tags of this cluster has no tag Name; it is kept", { vm: id });
        return [];
      }
      const machineNamespace = tags.get(ownerTagKeys.namespace) ?? "";
      return [
        {
          providerId: providerIdOf(region, id),
          machineName,
          ...(machineUid === "" ? {} : { machineUid }),
          ...(machineNamespace === "" ? {} : { machineNamespace }),
        },
      ];
    }),
  };
}
