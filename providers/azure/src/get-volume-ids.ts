import { csiHandleOf, fieldOf } from "@millwright/core/driver-kit";

/** The CSI driver whose volumes are managed disks. */
export const azureDiskCsiDriver = "disk.csi.azure.com";

/** The id by which nodes report a volume as attached: undefined when it is no managed disk (machine-controller-manager-provider-azure, `pkg/azure/provider/provider.go`). */
export function volumeIdOf(volume: Readonly<Record<string, unknown>>): string | undefined {
  const inTree = fieldOf(volume["azureDisk"], "diskName");
  if (typeof inTree === "string" && inTree !== "") return inTree;
  return csiHandleOf(volume, azureDiskCsiDriver);
}
