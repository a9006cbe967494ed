import type { VirtualMachine, VirtualMachineUpdate } from "@azure/arm-compute";
import { isSameName, nameInId, nicNameOf, osDiskNameOf } from "./names.ts";

/** Disks that the driver makes, by their name: others were attached later. */
const isOwnDataDisk = (diskName: string, vmName: string): boolean =>
  diskName.toLowerCase().startsWith(`${vmName.toLowerCase()}-`) && /-\d+-data-disk$/i.test(diskName);

/**
 * The change after which NIC and disks of a VM go with it; undefined when they do already. VMs that older drivers made lack it. A disk that was attached later keeps what it has, and is
 * part of the change all the same: a list of data disks without it would detach it.
 */
export function cascadeInput(vm: VirtualMachine): VirtualMachineUpdate | undefined {
  const { name: vmName = "", storageProfile, networkProfile } = vm;
  const osDisk = storageProfile?.osDisk;
  const changesOsDisk = isSameName(osDisk?.name, osDiskNameOf(vmName)) && osDisk?.deleteOption !== "Delete";
  const dataDisks = storageProfile?.dataDisks ?? [];
  const lacking = dataDisks.filter(
    ({ name = "", deleteOption }) => isOwnDataDisk(name, vmName) && deleteOption !== "Delete",
  );
  const nics = networkProfile?.networkInterfaces ?? [];
  const lackingNics = nics.filter(
    ({ id, deleteOption }) => isSameName(nameInId(id), nicNameOf(vmName)) && deleteOption !== "Delete",
  );
  if (!changesOsDisk && lacking.length === 0 && lackingNics.length === 0) return undefined;
  return {
    ...(changesOsDisk || lacking.length > 0
      ? {
          storageProfile: {
            ...(changesOsDisk && osDisk !== undefined
              ? {
                  osDisk: {
                    ...(osDisk.name === undefined ? {} : { name: osDisk.name }),
                    createOption: osDisk.createOption,
                    deleteOption: "Delete",
                  },
                }
              : {}),
            ...(lacking.length > 0
              ? {
                  dataDisks: dataDisks.map((disk) =>
                    lacking.includes(disk) ? { ...disk, deleteOption: "Delete" } : disk,
                  ),
                }
              : {}),
          },
        }
      : {}),
    ...(lackingNics.length > 0
      ? {
          networkProfile: {
            networkInterfaces: nics.map((nic) =>
              lackingNics.includes(nic) ? { ...nic, deleteOption: "Delete" } : nic,
            ),
          },
        }
      : {}),
  };
}
