import { MachineError } from "@millwright/core";
import { isRunning } from "../process/find.ts";
import type { QemuSpec } from "../spec/spec.ts";
import { listFolders, type VmFolder } from "../vm/folders.ts";

/** Memory of the running VMs, MiB. */
const usedMiB = async (folders: readonly VmFolder[]): Promise<number> => {
  const sizes = folders.map(async (folder) => ((await isRunning(folder)) ? folder.record.spec.memoryMiB : 0));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

/**
 * Checks that the VMs of a state directory, of all clusters, have no more memory together than the computer: it would end processes otherwise. VMs that are created at the same moment may exceed it.
 *
 * @param totalMiB memory of the computer
 * @throws MachineError `ResourceExhausted`
 */
export async function checkCapacity({ stateDirectory, memoryMiB }: QemuSpec, totalMiB: number): Promise<void> {
  const used = await usedMiB(await listFolders(stateDirectory));
  if (used + memoryMiB <= totalMiB) return;
  throw new MachineError(
    "ResourceExhausted",
    `memoryMiB: ${memoryMiB} MiB do not fit: the computer has ${Math.floor(totalMiB)} MiB, and its VMs have ${used}`,
  );
}
