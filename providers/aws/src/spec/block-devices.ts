import { goObject } from "@millwright/core";
import type { AddIssue } from "@millwright/core/driver-kit";
import * as z from "zod";
import { optionalText } from "./absent-text.ts";
import { checkPerformance } from "./volume-performance.ts";

/** Types of EBS volumes. `io2` is not in MCM. */
const volumeTypes = ["gp2", "gp3", "io1", "io2", "st1", "sc1", "standard"] as const;

const ebsSchema = goObject({
  volumeSize: z.int32().min(1, "must be at least 1").describe("Size in GiB."),
  volumeType: z.enum(volumeTypes).describe("Type of the volume."),
  iops: z.int32().min(0).describe("IOPS; required for io1 and io2.").default(0),
  throughput: z.int32().describe("Throughput in MiB/s.").optional(),
  encrypted: z.boolean().describe("Whether the volume is encrypted.").default(false),
  kmsKeyID: optionalText(z.string().max(2_048)).describe(
    "Encryption key; if set, the volume is encrypted. Ignored by MCM.",
  ),
  snapshotID: optionalText(z.string().max(2_048)).describe("Snapshot that the volume starts from."),
  deleteOnTermination: z.boolean().describe("Whether the volume is deleted with the VM.").default(true),
}).describe("The volume. Required for the root disk, and for others without `noDevice` or `virtualName`.");

/** Schema of an entry of `blockDevices`. */
export const blockDeviceSchema = goObject({
  deviceName: z
    .string()
    .max(2_048)
    .describe(
      "`/root` is the root disk of the image. With one entry the name does not matter; with several the others are `/dev/sdX` or `/dev/xvdXX`.",
    )
    .default(""),
  ebs: ebsSchema.optional(),
  noDevice: optionalText(z.string().max(2_048)).describe(
    "Not empty: leaves out the device of the image, unless it is the root disk. Ignored by MCM.",
  ),
  virtualName: optionalText(z.string().max(2_048)).describe(
    "Instance store volume, such as `ephemeral0`, if there is no `ebs`. Ignored by MCM.",
  ),
});

/** An entry of `blockDevices`. */
export type BlockDevice = Readonly<z.output<typeof blockDeviceSchema>>;

/** The name that stands for the root disk of the image. */
export const rootDevice = "/root";

const deviceNamePattern = /^\/dev\/(sd[a-z]|xvd[a-c][a-z]?)$/;

/** Rules over the entries of `blockDevices` (machine-controller-manager-provider-aws, `validateBlockDevices`). */
export function checkBlockDevices(devices: readonly BlockDevice[], addIssue: AddIssue): void {
  for (const [index, { deviceName, ebs, noDevice, virtualName }] of devices.entries()) {
    const at = ["blockDevices", index];
    const isRoot = devices.length === 1 || deviceName === rootDevice;
    if (ebs === undefined && (isRoot || (noDevice === undefined && virtualName === undefined))) {
      addIssue([...at, "ebs"], "is required");
    }
    if (ebs !== undefined) checkPerformance(ebs, [...at, "ebs"], addIssue);
    if (ebs !== undefined && (ebs.volumeType === "io1" || ebs.volumeType === "io2") && ebs.iops === 0) {
      addIssue([...at, "ebs", "iops"], `must be more than 0 for volumes of type ${ebs.volumeType}`);
    }
  }
  if (devices.length < 2) return;
  const names = devices.map(({ deviceName }) => deviceName);
  for (const [index, name] of names.entries()) {
    const at = ["blockDevices", index, "deviceName"];
    if (names.indexOf(name) !== index) addIssue(at, `must be unique, "${name}" occurs twice`);
    else if (name !== rootDevice && !deviceNamePattern.test(name)) {
      addIssue(at, 'must be "/root", or a device such as /dev/sdf or /dev/xvdba');
    }
  }
  if (!names.includes(rootDevice)) addIssue(["blockDevices"], 'must name the root disk: deviceName "/root"');
}
