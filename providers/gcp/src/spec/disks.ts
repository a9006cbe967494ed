import { goObject } from "@millwright/core";
import { type AddIssue, withFallbackValues } from "@millwright/core/driver-kit";
import * as z from "zod";
import { goTexts } from "./go-text.ts";

const encryptionSchema = goObject({
  kmsKeyName: z.string().trim().min(1, "must not be empty").describe("Encryption key."),
  kmsKeyServiceAccount: z
    .string()
    .refine((value) => value === "" || value.trim() !== "", "must not be blank")
    .trim()
    .describe("Service account that uses the key; that of Compute Engine by default.")
    .optional(),
}).describe("Customer-managed key of the disk.");

const diskShape = {
  type: z
    .string()
    .min(1, "must not be empty")
    .describe("Type of the disk, such as `pd-balanced`, or `SCRATCH` for a local SSD."),
  autoDelete: z.boolean().describe("Whether the disk is deleted with the VM.").default(true),
  boot: z.boolean().describe("Whether the VM boots from it; the first one.").default(false),
  encryption: encryptionSchema.optional(),
  image: z.string().describe("Image that the disk starts from; required for the boot disk.").default(""),
  interface: z.string().describe("Of `SCRATCH` disks, and required there: `NVME` or `SCSI`.").default(""),
  labels: goTexts.describe("Labels of the disk.").default({}),
  provisionedIops: z.int().min(0).describe("IOPS, where the type has a choice; 0: its default.").default(0),
  provisionedThroughput: z
    .int()
    .min(0)
    .describe("Throughput in MiB/s, where the type has a choice; 0: its default.")
    .default(0),
  sizeGb: z.int().min(0).describe("Size in GB; 0: that of the image.").default(0),
  storagePool: z.string().describe("Storage pool of the disk.").optional(),
};

/** Schema of an entry of `disks`. */
export const diskSchema = goObject(diskShape);

/** The same of a class whose VM is only looked for: what is valid of it. */
export const diskOfVmSchema = goObject(withFallbackValues(diskShape, [], { type: "" }));

/** An entry of `disks`. */
export type Disk = Readonly<z.output<typeof diskSchema>>;

/** Whether a disk is a local SSD. */
export const isScratch = ({ type }: Disk): boolean => type === "SCRATCH";

/**
 * Rules over the entries of `disks` (machine-controller-manager-provider-gcp, `pkg/gcp/validation/validation.go`), and those of Compute Engine: the first disk is the boot disk and no other one, it is
 * persistent, and local SSDs are of type `SCRATCH` (API reference, `Instance.disks`).
 */
export function checkDisks(disks: readonly Disk[], addIssue: AddIssue): void {
  for (const [index, disk] of disks.entries()) {
    const at = ["disks", index];
    if (index === 0) {
      if (isScratch(disk)) addIssue([...at, "type"], "must not be SCRATCH: VMs boot from the first disk");
      else if (!disk.boot) addIssue([...at, "boot"], "must be true: VMs boot from the first disk");
    } else if (disk.boot && !isScratch(disk)) {
      // The field is not sent for local SSDs.
      addIssue([...at, "boot"], "must be false: VMs boot from the first disk alone");
    }
    if (disk.type === "local-ssd") addIssue([...at, "type"], 'must be "SCRATCH" for a local SSD');
    if (disk.boot && disk.image === "") addIssue([...at, "image"], "is required for the boot disk");
    if (isScratch(disk) && disk.interface !== "NVME" && disk.interface !== "SCSI") {
      addIssue([...at, "interface"], 'must be "NVME" or "SCSI" for a disk of type SCRATCH');
    }
  }
}
