import { link, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { dirname } from "node:path";

/** Timeout of waiting for another build, milliseconds: several times the duration of one on two cores. */
const WAIT_LIMIT_MS = 45 * 60_000;
/** A lock without a readable owner for this long was abandoned during its creation, milliseconds. */
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
    if (!hasCode(error, "EEXIST")) throw error;
  }
  const abandoned = await abandonedOwner(path);
  if (abandoned !== undefined) await takeAway(path, abandoned);
  return false;
}

/** The content of an abandoned lock; undefined while the lock is held, or when it does not exist. */
async function abandonedOwner(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const pid = Number(text);
  if (Number.isInteger(pid) && pid > 0) return isAlive(pid) ? undefined : text;
  const made = await stat(path).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs > UNREADABLE_LIMIT_MS ? text : undefined;
}

/**
 * Removes an abandoned lock. Only one of several processes moves it; a process that moved a newer lock of another one moves it
 * back.
 */
async function takeAway(path: string, owner: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  try {
    await rename(path, aside);
    if ((await readFile(aside, "utf8")) !== owner) await link(aside, path);
  } catch (error) {
    if (!hasCode(error, "ENOENT") && !hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
