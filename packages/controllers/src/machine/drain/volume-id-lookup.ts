import type { Machine } from "@millwright/core";
import type { ControllerContext } from "../../cluster/context.ts";
import type { VolumeIds } from "../../drain/volume-ids.ts";
import type { ResolvedClass } from "../../cluster/class-view.ts";
import type { MachineDriver } from "../../model/driver-port.ts";

/** Requests the ids of PersistentVolumes from the driver of a machine's class, in the background; `enqueue` is called when they are known. */
export type LookUpVolumeIds = (
  machine: Machine,
  resolved: ResolvedClass,
  volumes: readonly string[],
  enqueue: () => void,
) => void;

/** Makes the lookup; one call for all volumes of a node. */
export const createVolumeIdLookup =
  ({ target }: ControllerContext, driver: MachineDriver, volumeIds: Pick<VolumeIds, "lookUp">): LookUpVolumeIds =>
  (machine, { view, secret }, names, enqueue) => {
    // Decided on the same snapshot, so the class is usable.
    if (view.state !== "usable" || target === undefined) return;
    const { machineClass } = view;
    const found = names.flatMap((name) => target.caches.volumes.store.get(name) ?? []);
    const specs = found.map(({ spec }) => ({ ...spec }));
    volumeIds.lookUp(machineClass.provider ?? "", {
      volumes: found.map(({ metadata }) => metadata.name),
      run: (signal) => driver.volumeIds({ machine, machineClass, secret }, specs, signal),
      enqueue,
    });
  };
