import { csiHandleOf, fieldOf } from "@millwright/core/driver-kit";

/** The CSI driver whose volumes are persistent disks. */
export const pdCsiDriver = "pd.csi.storage.gke.io";

/** The id by which nodes report a volume as attached: undefined when it is no persistent disk (machine-controller-manager-provider-gcp, `pkg/gcp/machine_controller_util.go`). */
export function volumeIdOf(volume: Readonly<Record<string, unknown>>): string | undefined {
  const inTree = fieldOf(volume["gcePersistentDisk"], "pdName");
  if (typeof inTree === "string" && inTree !== "") return inTree;
  return csiHandleOf(volume, pdCsiDriver);
}
