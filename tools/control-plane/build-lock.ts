import { link, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
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
    if (!hasCode(error, "EEXIST")) throw error;
  }
  const abandoned = await abandonedOwner(path);
  if (abandoned !== undefined) await takeAway(path, abandoned);
  return false;
}

/** What a lock says whose owner is gone; undefined while the lock is held, or when there is none any more. */
async function abandonedOwner(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const pid = Number(text);
  if (Number.isInteger(pid) && pid > 0) return isAlive(pid) ? undefined : text;
  const made = await stat(path).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs > UNREADABLE_LIMIT_MS ? text : undefined;
}

/**
 * Takes an abandoned lock away. Of several that saw it only one moves it; who moves the lock of another that was quicker, and has
 * made its own since, puts that back.
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
