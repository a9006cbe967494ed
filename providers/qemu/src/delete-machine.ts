import { join } from "node:path";
import { type DeleteMachineResponse, type DriverContext, MachineError, type MachineRequest } from "@millwright/core";
import { runExclusively } from "./launch/exclusive.ts";
import { discard } from "./process/stop.ts";
import type { QemuSpec } from "./spec/spec.ts";
import { readAllFolders, removeAbandonedStaging, type VmFolder } from "./vm/folders.ts";
import { folderNameFromProviderId, folderNameOf } from "./vm/identity.ts";
import { isOwnedBy } from "./vm/record.ts";

/** The folder in which a VM is looked for: that of its provider id, which stays if the cluster of the class is changed; else that of the name. */
export const folderNameFor = ({ machine, machineClass }: MachineRequest<QemuSpec>): string | undefined =>
  (machine.providerId ?? "") === ""
    ? folderNameOf(machineClass.spec.cluster, machine.name)
    : folderNameFromProviderId(machine.providerId ?? "");

/**
 * The VMs to delete: with a provider id exactly that one, otherwise all of the machine, also those whose deletion has started.
 *
 * @throws MachineError `PermissionDenied` for the VM of another machine
 */
function select(
  folders: readonly VmFolder[],
  { machine, machineClass }: MachineRequest<QemuSpec>,
): readonly VmFolder[] {
  const { cluster } = machineClass.spec;
  const { providerId = "" } = machine;
  if (providerId === "") return folders.filter(({ record }) => isOwnedBy(record, cluster, machine));
  const named = folders.filter(({ record }) => record.providerId === providerId);
  if (named.every(({ record }) => isOwnedBy(record, cluster, machine))) return named;
  throw new MachineError(
    "PermissionDenied",
    `VM ${providerId} does not have the tags of machine "${machine.name}" in namespace "${machine.namespace}" of cluster "${cluster}"; it is kept`,
  );
}

/** Deletes the VM of a machine: process, disk and folder. */
export async function deleteMachine(
  request: MachineRequest<QemuSpec>,
  context: DriverContext,
): Promise<DeleteMachineResponse> {
  const { stateDirectory, shutdownGracePeriodMs } = request.machineClass.spec;
  const folderName = folderNameFor(request);
  if (folderName === undefined) return { vm: "missing" };
  return runExclusively(join(stateDirectory, folderName), context.signal, async () => {
    const folders = select(await readAllFolders(stateDirectory, folderName), request);
    for (const folder of folders) await discard(folder, shutdownGracePeriodMs, context);
    await removeAbandonedStaging(stateDirectory, folderName);
    return { vm: folders.length > 0 ? "ended" : "missing" };
  });
}
