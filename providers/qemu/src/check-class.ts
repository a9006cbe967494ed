import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import type { CheckClassRequest, CheckClassResponse, CheckOutcome, DriverContext } from "@millwright/core";
import { runChecks } from "@millwright/core/driver-kit";
import { toMachineError } from "./errors.ts";
import { checkCapacity } from "./launch/capacity.ts";
import type { QemuHost } from "./launch/create-machine.ts";
import { checkFiles, checkImage } from "./launch/prepare.ts";
import { imageProgram } from "./process/arguments.ts";
import { lastLine, runProgram } from "./process/programs.ts";
import type { QemuSpec } from "./spec/spec.ts";

type Outcome = Omit<CheckOutcome, "name">;

const isAccessible = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

/** Version of a program. */
async function versionOf(program: string, signal: AbortSignal): Promise<Outcome> {
  const text = await runProgram(program, ["--version"], signal, (message) =>
    toMachineError(new Error(message), signal),
  );
  return { status: "ok", message: lastLine(text.split("\n")[0] ?? "") };
}

async function checkAccelerator({ accelerator }: QemuSpec): Promise<Outcome> {
  if (accelerator === "tcg") return { status: "ok", message: "The class asks for emulation in software." };
  if (await isAccessible("/dev/kvm", constants.R_OK | constants.W_OK))
    return { status: "ok", message: "KVM can be used." };
  return {
    status: accelerator === "kvm" ? "failed" : "warning",
    message:
      accelerator === "kvm" ? "KVM cannot be used." : "KVM cannot be used; VMs are emulated in software, and slow.",
    remedy: 'Enable virtualization in the firmware, and add the user of Millwright to the group "kvm".',
  };
}

/** The state directory, or the folder in which the first creation makes it. */
async function checkStateDirectory({ stateDirectory }: QemuSpec): Promise<Outcome> {
  let folder = stateDirectory;
  while (folder !== "/" && !(await isAccessible(folder, constants.F_OK))) folder = dirname(folder);
  if (await isAccessible(folder, constants.W_OK | constants.X_OK))
    return { status: "ok", message: `VMs are stored in ${stateDirectory}.` };
  return {
    status: "failed",
    message: `${folder} cannot be written.`,
    remedy: `Create ${stateDirectory}, owned by the user of Millwright.`,
  };
}

/** Checks what can be wrong with a class on this computer. */
export function checkClass(
  { machineClass: { spec } }: CheckClassRequest<QemuSpec>,
  { signal }: DriverContext,
  host: QemuHost,
): Promise<CheckClassResponse> {
  return runChecks({
    first: { name: "QEMU", run: () => versionOf(host.systemProgram, signal) },
    others: [
      { name: "Disk tools", run: () => versionOf(imageProgram, signal) },
      { name: "Accelerator", run: () => checkAccelerator(spec) },
      { name: "State directory", run: () => checkStateDirectory(spec) },
      {
        name: "Image and kernel",
        run: async () => {
          await checkFiles(spec);
          await checkImage(spec, signal);
          return { status: "ok", message: "The files of the class can be read." };
        },
      },
      {
        name: "Memory",
        run: async () => {
          await checkCapacity(spec, host.totalMemoryMiB());
          return { status: "ok", message: "Another VM of the class fits in the memory." };
        },
      },
    ],
    toError: (thrown) => toMachineError(thrown, signal),
    signal,
  });
}
