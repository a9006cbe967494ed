import { constants } from "node:fs";
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MachineError, type Secret } from "@millwright/core";
import { fieldOf } from "@millwright/core/driver-kit";
import { diskArguments, hasDisk, imageProgram, vmFiles } from "../process/arguments.ts";
import { runProgram } from "../process/programs.ts";
import type { VmShape } from "../spec/spec.ts";
import { instanceIdOf } from "../vm/identity.ts";
import { recordFileName, type VmRecord } from "../vm/record.ts";
import { systemCodeOf } from "../vm/system-code.ts";

/** The largest user data, bytes: that of a Kubernetes Secret. */
export const maxUserDataBytes = 1_048_576;

const gibibyte = 1_073_741_824;

/** Files of the class, by their fields. */
const filesOf = ({ image, kernel }: VmShape): readonly (readonly [string, string | undefined])[] => [
  ["image.path", image?.path],
  ["kernel.path", kernel?.path],
  ["kernel.initrd", kernel?.initrd],
];

/**
 * Checks that the files of a class exist, and can be read.
 *
 * @throws MachineError `InvalidArgument` that names the field
 */
export async function checkFiles(spec: VmShape): Promise<void> {
  for (const [field, file] of filesOf(spec)) {
    if (file === undefined) continue;
    try {
      await access(file, constants.R_OK);
    } catch (cause) {
      const isMissing = systemCodeOf(cause) === "ENOENT";
      const problem = isMissing ? "does not exist" : "cannot be read";
      throw new MachineError(
        "InvalidArgument",
        `${field}: ${file} ${problem} on the computer that runs Millwright; copy it there, or change the class`,
        { cause },
      );
    }
  }
}

/**
 * Checks that the image has its format, and fits on the disk. A smaller disk would cut it off.
 *
 * @throws MachineError `InvalidArgument` that names the field
 */
export async function checkImage({ image, diskGiB }: VmShape, signal: AbortSignal): Promise<void> {
  if (image === undefined) return;
  const args = ["info", "--output=json", "-f", image.format, image.path];
  const text = await runProgram(imageProgram, args, signal, (message) => {
    return new MachineError(
      "InvalidArgument",
      `image: ${image.path} is not a readable ${image.format} image: ${message}`,
    );
  });
  const size = fieldOf(JSON.parse(text), "virtual-size");
  if (diskGiB === undefined || typeof size !== "number" || size <= diskGiB * gibibyte) return;
  const least = Math.ceil(size / gibibyte);
  throw new MachineError("InvalidArgument", `diskGiB: must be at least ${least}, the size of image ${image.path}`);
}

/** What cloud-init reads of the instance. Also YAML: JSON texts are. */
const metaDataOf = ({ providerId, nodeName }: VmRecord): string =>
  Object.entries({
    "instance-id": instanceIdOf(providerId),
    "local-hostname": nodeName,
    "provider-id": providerId,
  })
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join("");

const full = (error: unknown): MachineError | undefined =>
  ["ENOSPC", "EDQUOT"].includes(systemCodeOf(error))
    ? new MachineError("ResourceExhausted", "stateDirectory: the file system is full", { cause: error })
    : undefined;

/** Fills the folder of a new VM: record, seed and disk. Only the user of Millwright can read them: the seed has a token that lets a node join. */
export async function fillFolder(
  folder: string,
  record: VmRecord,
  userData: Secret,
  signal: AbortSignal,
): Promise<void> {
  const write = (name: string, data: string | Uint8Array): Promise<void> =>
    writeFile(join(folder, name), data, { mode: 0o600, flag: "wx", flush: true });
  try {
    await mkdir(join(folder, vmFiles.seed), { mode: 0o700 });
    await write(join(vmFiles.seed, "user-data"), userData.revealBytes());
    await write(join(vmFiles.seed, "meta-data"), metaDataOf(record));
    await write(recordFileName, `${JSON.stringify(record, undefined, 2)}\n`);
  } catch (error) {
    throw full(error) ?? error;
  }
  if (!hasDisk(record.spec)) return;
  await runProgram(imageProgram, diskArguments(folder, record.spec), signal, (message) =>
    /No space left/i.test(message)
      ? new MachineError("ResourceExhausted", "stateDirectory: the file system is full")
      : new MachineError("FailedPrecondition", `the disk of the VM cannot be created: ${message}`),
  );
}
