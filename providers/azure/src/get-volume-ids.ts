import { fieldOf } from "@millwright/core/driver-kit";

/** The CSI driver whose volumes are managed disks. */
export const azureDiskCsiDriver = "disk.csi.azure.com";

/** The id by which nodes report a volume as attached: undefined when it is no managed disk (provider-drivers.md 3.4). */
export function volumeIdOf({ csi, azureDisk }: Readonly<Record<string, unknown>>): string | undefined {
  const inTree = fieldOf(azureDisk, "diskName");
  if (typeof inTree === "string" && inTree !== "") return inTree;
  const handle = fieldOf(csi, "driver") === azureDiskCsiDriver ? fieldOf(csi, "volumeHandle") : undefined;
  return typeof handle === "string" && handle !== "" ? handle : undefined;
}
