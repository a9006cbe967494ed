import { mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { dirname } from "node:path";

/** How long another build is waited for, milliseconds: several times what one takes on two cores. */
const WAIT_LIMIT_MS = 45 * 60_000;
/** A lock whose owner cannot be read for this long was left behind in the instant of its making, milliseconds. */
const UNREADABLE_LIMIT_MS = 10_000;

/**
 * Runs `work` while no other process runs work under the same lock file. A lock of a process that has died is taken over.
 * Rejects with the signal's reason on abort.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const deadline = performance.now() + WAIT_LIMIT_MS;
  while (!(await acquire(path))) {
    if (performance.now() > deadline)
      throw new Error(`another build has held ${path} for too long; remove it if none runs`);
    await delay(500, undefined, { signal });
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function acquire(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    try {
      await file.writeFile(String(process.pid));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  if (await isAbandoned(path)) await rm(path, { force: true });
  return false;
}

async function isAbandoned(path: string): Promise<boolean> {
  const text = await readFile(path, "utf8").catch(() => "");
  const pid = Number(text);
  if (Number.isInteger(pid) && pid > 0) return !isAlive(pid);
  const made = await stat(path).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs > UNREADABLE_LIMIT_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
