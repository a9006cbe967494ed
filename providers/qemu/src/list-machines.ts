import type { ListedMachine, ListMachinesRequest, ListMachinesResponse } from "@millwright/core";
import { isRunning } from "./process/find.ts";
import type { QemuSpec } from "./spec/spec.ts";
import { listFolders, type VmFolder } from "./vm/folders.ts";
import { isOfCluster, ownerTagKeys } from "./vm/record.ts";

async function listed(folder: VmFolder): Promise<ListedMachine> {
  const { providerId, tags } = folder.record;
  const machineUid = tags[ownerTagKeys.machineUid] ?? "";
  const machineNamespace = tags[ownerTagKeys.namespace] ?? "";
  return {
    providerId,
    machineName: tags[ownerTagKeys.machineName] ?? "",
    ...(machineUid === "" ? {} : { machineUid }),
    ...(machineNamespace === "" ? {} : { machineNamespace }),
    ...((await isRunning(folder)) ? {} : { parts: [`folder ${folder.path}`] }),
  };
}

/** Lists the VMs of a cluster, and the folders of those that have ended. */
export async function listMachines({ machineClass }: ListMachinesRequest<QemuSpec>): Promise<ListMachinesResponse> {
  const { cluster, stateDirectory } = machineClass.spec;
  const own = (await listFolders(stateDirectory)).filter(({ record }) => isOfCluster(record, cluster));
  return { machines: await Promise.all(own.map(listed)) };
}
