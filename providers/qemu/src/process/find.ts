import { readFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import type { VmFolder } from "../vm/folders.ts";
import { systemUuidOf } from "../vm/identity.ts";
import { vmFiles } from "./arguments.ts";
import { systemCodeOf } from "../vm/system-code.ts";

/** A file of which only the absence is expected: a process that ends, or has not written its pid. */
async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    // ESRCH: the process ended between the opening and the reading.
    if (["ENOENT", "ESRCH"].includes(systemCodeOf(error))) return undefined;
    throw error;
  }
}

/** Whether a command line, as in `/proc`, is that of the QEMU process of a VM. Its UUID is the identity: pids are used again. */
export function isCommandLineOf(providerId: string, commandLine: string): boolean {
  const values = commandLine.split("\0");
  return values[values.indexOf("-uuid") + 1] === systemUuidOf(providerId);
}

/** The pid of the process of a VM; undefined when it has ended. A process that has ended and was not collected by its parent has no command line. */
export async function findProcess({ path, record }: Pick<VmFolder, "path" | "record">): Promise<number | undefined> {
  const text = (await readIfPresent(join(path, vmFiles.pid)))?.trim() ?? "";
  if (!/^\d+$/.test(text)) return undefined;
  const commandLine = await readIfPresent(`/proc/${text}/cmdline`);
  return commandLine !== undefined && isCommandLineOf(record.providerId, commandLine) ? Number(text) : undefined;
}

/** Whether a process serves the socket of a VM. */
async function isServed(folder: string): Promise<boolean> {
  const socket = createConnection({ path: join(folder, vmFiles.socket) });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.on("connect", () => resolve(true));
  // No such file, or no process listens.
  socket.on("error", () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/**
 * Whether a VM runs. Only the end of its process is certain if its socket is not served either: a process that is ending has no command line any more, and one that was started in another container has no
 * visible pid.
 */
export const isRunning = async (folder: Pick<VmFolder, "path" | "record">): Promise<boolean> =>
  (await findProcess(folder)) !== undefined || isServed(folder.path);

/** Whether a process is about to write its pid: QEMU creates and locks the file first. */
export const isStarting = async (folder: string): Promise<boolean> =>
  (await readIfPresent(join(folder, vmFiles.pid)))?.trim() === "";
