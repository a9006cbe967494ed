import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { MachineError } from "@millwright/core";
import { readRecord, type VmRecord } from "./record.ts";
import { systemCodeOf } from "./system-code.ts";

/** The folder of a VM with its record. */
export interface VmFolder {
  readonly path: string;
  readonly record: VmRecord;
  /** Its deletion has started: it is no longer the VM of its machine. */
  readonly isTerminating: boolean;
}

/** Folders that are being filled; no VM yet. */
const stagingPrefix = ".new.";
/** Folders whose deletion has started. */
const terminatingPrefix = ".gone.";

const isMissing = (error: unknown): boolean => systemCodeOf(error) === "ENOENT";

/** Names of the folders of a state directory, which need not exist. Fails as a whole: a short list would make machines look as if they had lost their VMs. */
async function namesIn(stateDirectory: string): Promise<readonly string[]> {
  try {
    return await readdir(stateDirectory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw cannotUse(stateDirectory, error);
  }
}

const cannotUse = (stateDirectory: string, cause: unknown): MachineError =>
  new MachineError(
    "FailedPrecondition",
    `stateDirectory ${stateDirectory} cannot be used (${systemCodeOf(cause)}); let the user of Millwright own it`,
    { cause },
  );

const read = async (stateDirectory: string, name: string): Promise<readonly VmFolder[]> => {
  const path = join(stateDirectory, name);
  const record = await readRecord(path);
  return record === undefined ? [] : [{ path, record, isTerminating: name.startsWith(terminatingPrefix) }];
};

/** All VMs of a state directory, also those whose deletion has started. */
export async function listFolders(stateDirectory: string): Promise<readonly VmFolder[]> {
  const names = (await namesIn(stateDirectory)).filter((name) => !name.startsWith(stagingPrefix)).toSorted();
  return (await Promise.all(names.map((name) => read(stateDirectory, name)))).flat();
}

/** The VM with a folder name, unless its deletion has started. */
export const readFolder = async (stateDirectory: string, folderName: string): Promise<VmFolder | undefined> =>
  (await read(stateDirectory, folderName))[0];

/** The VM with a folder name, and those whose deletion has started. */
export async function readAllFolders(stateDirectory: string, folderName: string): Promise<readonly VmFolder[]> {
  const names = await namesIn(stateDirectory);
  const own = names.filter((name) => name === folderName || name.startsWith(`${terminatingPrefix}${folderName}.`));
  return (await Promise.all(own.map((name) => read(stateDirectory, name)))).flat();
}

/** Start time of a process in ticks since the boot of the computer; undefined without such a process. */
async function startTimeOf(pid: string): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may contain anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

/**
 * Creates an empty folder for a new VM, which only the user of Millwright can read. No other call sees it before {@link publish}. Its name has the process that fills it, with the time
 * at which that started: pids are used again.
 */
export async function createStaging(stateDirectory: string, folderName: string): Promise<string> {
  try {
    await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
    const start = (await startTimeOf(String(process.pid))) ?? "0";
    return await mkdtemp(join(stateDirectory, `${stagingPrefix}${folderName}.${process.pid}.${start}.`));
  } catch (error) {
    throw cannotUse(stateDirectory, error);
  }
}

/** Removes what creations of a VM left in processes that have ended. */
export async function removeAbandonedStaging(stateDirectory: string, folderName: string): Promise<void> {
  const prefix = `${stagingPrefix}${folderName}.`;
  for (const name of await namesIn(stateDirectory)) {
    if (!name.startsWith(prefix)) continue;
    const [pid = "", start] = name.slice(prefix.length).split(".");
    if (/^\d+$/.test(pid) && (await startTimeOf(pid)) === start) continue;
    await rm(join(stateDirectory, name), { recursive: true, force: true });
  }
}

/**
 * Makes a staged folder that of its VM, at once and with its record.
 *
 * @throws MachineError `Aborted` if another process created the VM first
 */
export async function publish(staging: string, stateDirectory: string, folderName: string): Promise<string> {
  const path = join(stateDirectory, folderName);
  try {
    await rename(staging, path);
    return path;
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(systemCodeOf(error))) throw error;
    throw new MachineError("Aborted", `folder ${path} was created by another process, or has no record of a VM`, {
      cause: error,
    });
  }
}

/**
 * Starts the deletion of a VM: its folder gets another name, at which no QEMU process can start any more (its paths are absolute). Returns the new path; undefined if the folder is gone.
 */
export async function retire({ path, isTerminating }: VmFolder): Promise<string | undefined> {
  if (isTerminating) return path;
  const slash = path.lastIndexOf("/");
  const suffix = randomBytes(3).toString("hex");
  const retired = `${path.slice(0, slash)}/${terminatingPrefix}${path.slice(slash + 1)}.${suffix}`;
  try {
    await rename(path, retired);
    return retired;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
