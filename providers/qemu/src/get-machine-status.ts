import { MachineError, type MachineRequest, type MachineStatusResponse } from "@millwright/core";
import { folderNameFor } from "./delete-machine.ts";
import { referenceOf } from "./launch/create-machine.ts";
import { isRunning } from "./process/find.ts";
import type { QemuSpec } from "./spec/spec.ts";
import { readFolder, type VmFolder } from "./vm/folders.ts";
import { isOwnedBy } from "./vm/record.ts";

/**
 * The running VM of a machine.
 *
 * @throws MachineError `NotFound` without one: also for a VM whose process has ended, which is not started again
 */
export async function findVm(request: MachineRequest<QemuSpec>): Promise<VmFolder> {
  const { machine, machineClass } = request;
  const { cluster, stateDirectory } = machineClass.spec;
  const { providerId = "" } = machine;
  const folderName = folderNameFor(request);
  const found = folderName === undefined ? undefined : await readFolder(stateDirectory, folderName);
  const isNamed = providerId === "" || found?.record.providerId === providerId;
  if (found === undefined || !isNamed || !isOwnedBy(found.record, cluster, machine))
    throw new MachineError("NotFound", `machine "${machine.name}" has no VM ${providerId}`.trimEnd());
  if (await isRunning(found)) return found;
  throw new MachineError(
    "NotFound",
    `the QEMU process of VM ${found.record.providerId} has ended; its console is in ${found.path}`,
  );
}

/** Finds the VM of a machine. */
export const getMachineStatus = async (request: MachineRequest<QemuSpec>): Promise<MachineStatusResponse> =>
  referenceOf((await findVm(request)).record);
