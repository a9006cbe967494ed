import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { MachineError, type MachineIdentity } from "@millwright/core";
import { ownsVm } from "@millwright/core/driver-kit";
import * as z from "zod";
import { vmShapeSchema } from "../spec/spec.ts";
import { systemCodeOf } from "./system-code.ts";

/** Tags of a VM, which are in its record. */
export const ownerTagKeys = {
  /** Always {@link managedBy}: VMs without it are never touched. */
  managedBy: "millwright.dev/managed-by",
  cluster: "millwright.dev/cluster",
  namespace: "millwright.dev/namespace",
  machineName: "millwright.dev/machine-name",
  machineUid: "millwright.dev/machine-uid",
  machineClass: "millwright.dev/machine-class",
  token: "millwright.dev/token",
  /** Hash of the part of the spec that the VM was created from. */
  specHash: "millwright.dev/spec-hash",
} as const;

/** Value of the tag {@link ownerTagKeys.managedBy}. */
export const managedBy = "millwright";

const recordSchema = z.object({
  version: z.literal(1),
  providerId: z.string().min(1),
  nodeName: z.string().min(1),
  /** For people. */
  createdAt: z.string(),
  tags: z.record(z.string(), z.string()),
  spec: vmShapeSchema,
});

/** What is known of a VM, besides its process. It is complete before the process starts, and never changes. */
export type VmRecord = Readonly<z.output<typeof recordSchema>>;

/** Name of the file of a record in the folder of its VM. */
export const recordFileName = "vm.json";

/**
 * Reads the record in a folder; undefined when there is none.
 *
 * @throws MachineError when the file cannot be read or is not a record: the driver can not decide to whom the VM belongs
 */
export async function readRecord(folder: string): Promise<VmRecord | undefined> {
  const file = join(folder, recordFileName);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCodeOf(error))) return undefined;
    throw unreadable(file, error);
  }
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (error) {
    throw unreadable(file, error);
  }
}

const unreadable = (file: string, cause: unknown): MachineError =>
  new MachineError(
    "FailedPrecondition",
    `${file}, the record of a VM, cannot be read; restore it, or stop the QEMU process and remove the folder`,
    { cause },
  );

/** Whether a VM belongs to a cluster. */
export const isOfCluster = ({ tags }: Pick<VmRecord, "tags">, cluster: string): boolean =>
  tags[ownerTagKeys.managedBy] === managedBy && tags[ownerTagKeys.cluster] === cluster;

/** Whether a VM was created for a machine ({@link ownsVm}): decided by its tags. */
export function isOwnedBy(
  record: Pick<VmRecord, "tags" | "providerId">,
  cluster: string,
  machine: MachineIdentity,
): boolean {
  const tagOf = (key: string): string => record.tags[key] ?? "";
  return (
    tagOf(ownerTagKeys.managedBy) === managedBy &&
    ownsVm(machine, {
      machineName: tagOf(ownerTagKeys.machineName),
      namespace: tagOf(ownerTagKeys.namespace),
      machineUid: tagOf(ownerTagKeys.machineUid),
      isOfCluster: isOfCluster(record, cluster),
      isNamedById: record.providerId === machine.providerId,
    })
  );
}
