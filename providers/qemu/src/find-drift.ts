import type { FindDriftResponse, MachineRequest } from "@millwright/core";
import { differencesFound } from "@millwright/core/driver-kit";
import { findVm } from "./get-machine-status.ts";
import { type QemuSpec, type VmShape, vmShapeOf } from "./spec/spec.ts";

/** Values of a spec by their fields; empty where the class sets none. */
const fieldsOf = ({ accelerator, cpus, diskGiB, image, kernel, memoryMiB, network }: VmShape) => ({
  accelerator,
  cpus,
  diskGiB: diskGiB ?? "",
  ...namesOf("image", { path: "", format: "", ...image }),
  ...namesOf("kernel", { path: "", initrd: "", append: "", ...kernel }),
  memoryMiB,
  network: JSON.stringify(network),
});

const namesOf = (parent: string, fields: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${parent}.${name}`, value]));

/** Compares what a VM was created from with its class. */
export async function findDrift(request: MachineRequest<QemuSpec>): Promise<FindDriftResponse> {
  const { record } = await findVm(request);
  const found = new Map(Object.entries(fieldsOf(record.spec)));
  const wanted = fieldsOf(vmShapeOf(request.machineClass.spec));
  const differences = differencesFound((compare) => {
    for (const [field, value] of Object.entries(wanted)) compare(field, value, found.get(field));
  });
  return { providerId: record.providerId, differences };
}
