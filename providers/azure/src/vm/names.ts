import { type MachineIdentity, MachineError } from "@millwright/core";
import type { DataDisk } from "../spec/storage.ts";

/** Names of resources as MCM's driver gives them (machine-controller-manager-provider-azure, `pkg/azure/utils/names.go`). Azure compares them without case. */
export const nicNameOf = (vmName: string): string => `${vmName}-nic`;

/** @see nicNameOf */
export const osDiskNameOf = (vmName: string): string => `${vmName}-os-disk`;

/** @see nicNameOf */
export const dataDiskNameOf = (vmName: string, disk: Pick<DataDisk, "name" | "lun">): string =>
  `${vmName}${dataDiskSuffix(disk)}`;

/** @see nicNameOf */
export const dataDiskSuffix = ({ name = "", lun }: Pick<DataDisk, "name" | "lun">): string =>
  `${name.trim() === "" ? "" : `-${name.trim()}`}-${lun}-data-disk`;

/** Whether two names mean one resource. */
export const isSameName = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase();

/** The last part of a resource id. */
export const nameInId = (id: string | undefined): string => (id ?? "").slice((id ?? "").lastIndexOf("/") + 1);

/** Azure's limit for the host name of a Linux VM. */
const longestVmName = 64;
/** Azure's limit for the name of a disk. */
const longestDiskName = 80;

/**
 * The name of the VM of a machine: that of the machine.
 *
 * @throws MachineError InvalidArgument for one that Azure would reject
 */
export function vmNameFor({ name }: MachineIdentity, dataDisks: readonly DataDisk[]): string {
  if (name.length > longestVmName || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name)) {
    throw new MachineError(
      "InvalidArgument",
      `machine "${name}": the name of a VM in Azure has ${longestVmName} letters, digits, dots and dashes at most; take a shorter name for the MachineDeployment`,
    );
  }
  for (const disk of dataDisks) {
    const diskName = dataDiskNameOf(name, disk);
    if (diskName.length <= longestDiskName) continue;
    throw new MachineError(
      "InvalidArgument",
      `machine "${name}": disk "${diskName}" would have a name of more than ${longestDiskName} characters; shorten the name of the data disk in the class`,
    );
  }
  return name;
}
