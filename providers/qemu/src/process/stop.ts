import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DriverContext } from "@millwright/core";
import { retire, type VmFolder } from "../vm/folders.ts";
import { vmFiles } from "./arguments.ts";
import { findProcess, isRunning, isStarting } from "./find.ts";
import { runQmp } from "./qmp.ts";
import { systemCodeOf } from "../vm/system-code.ts";

const pollMs = 50;
/** For how long a process may take between creating the file of its pid and writing it. One that was killed in between leaves it empty. */
const longestStartMs = 1_000;

/** Waits until the process of a VM has ended; false after the limit. */
async function hasEnded(folder: VmFolder, limitMs: number, { clock, signal }: DriverContext): Promise<boolean> {
  const startMs = clock.monotonicMs();
  while (await isRunning(folder)) {
    if (clock.monotonicMs() - startMs >= limitMs) return false;
    await clock.sleep(pollMs, signal);
  }
  return true;
}

/** Kills a process that is known to be that of a VM. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (systemCodeOf(error) !== "ESRCH") throw error;
  }
}

/**
 * Presses the power button of a VM, and waits until it has shut down.
 *
 * @throws only the reason of the signal: a VM that cannot be reached is killed next
 */
async function shutDown(folder: VmFolder, gracePeriodMs: number, context: DriverContext): Promise<void> {
  const { signal } = context;
  // A process that does not answer must not take longer than the grace period.
  const limit = new AbortController();
  const timer = context.clock.setTimer(gracePeriodMs, () => limit.abort());
  try {
    await runQmp(join(folder.path, vmFiles.socket), "system_powerdown", AbortSignal.any([signal, limit.signal]));
  } catch {
    signal.throwIfAborted();
    return;
  } finally {
    timer.cancel();
  }
  await hasEnded(folder, gracePeriodMs, context);
}

/**
 * Deletes a VM: its process, disk and folder. From the first moment it is no longer the VM of its machine. May be repeated after a failure, also by another process.
 *
 * @param gracePeriodMs how long the VM may take to shut down; 0 kills it
 */
export async function discard(folder: VmFolder, gracePeriodMs: number, context: DriverContext): Promise<void> {
  const path = await retire(folder);
  if (path === undefined) return;
  const retired: VmFolder = { ...folder, path, isTerminating: true };
  // Looked for after the folder got its new name: no process can start any more.
  if (gracePeriodMs > 0 && (await isRunning(retired))) await shutDown(retired, gracePeriodMs, context);
  for (let waitedMs = 0; waitedMs < longestStartMs && (await isStarting(path)); waitedMs += pollMs)
    await context.clock.sleep(pollMs, context.signal);
  const pid = await findProcess(retired);
  if (pid !== undefined) kill(pid);
  await hasEnded(retired, Number.POSITIVE_INFINITY, context);
  await rm(path, { recursive: true, force: true });
}
