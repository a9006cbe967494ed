import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withLock } from "./build-lock.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

/** The id of a process that has ended. */
async function goneId(): Promise<number> {
  const child = spawn("true");
  await once(child, "exit");
  return child.pid ?? 0;
}

test("runs one at a time under a lock, and removes the lock", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "new", "build.lock");
  let working = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    working += 1;
    most = Math.max(most, working);
    expect(await readFile(path, "utf8")).toBe(String(process.pid));
    working -= 1;
  };
  await Promise.all([withLock(path, work), withLock(path, work), withLock(path, work)]);
  expect(most).toBe(1);
  expect(await readdir(join(folder, "new"))).toEqual([]);
});

test("releases the lock when the work fails", async () => {
  const path = join(await temporaryFolder(), "build.lock");
  await expect(withLock(path, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await withLock(path, () => Promise.resolve("done"))).toBe("done");
});

test("takes over the lock of an ended process", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "build.lock");
  await writeFile(path, String(await goneId()));
  const both = await Promise.all([
    withLock(path, () => Promise.resolve("one")),
    withLock(path, () => Promise.resolve("two")),
  ]);
  expect(both).toEqual(["one", "two"]);
  expect(await readdir(folder)).toEqual([]);
});

test("takes over an old lock without an owner, but not a new one", async () => {
  const path = join(await temporaryFolder(), "build.lock");
  await writeFile(path, "");
  const aMoment = AbortSignal.timeout(1_200);
  await expect(withLock(path, () => Promise.resolve("too early"), aMoment)).rejects.toThrow("aborted");
  await utimes(path, new Date(0), new Date(0));
  expect(await withLock(path, () => Promise.resolve("mine"))).toBe("mine");
});

test("waits for a running process until it is aborted", async () => {
  const path = join(await temporaryFolder(), "build.lock");
  await writeFile(path, String(process.ppid));
  await expect(withLock(path, () => Promise.resolve("never"), AbortSignal.timeout(700))).rejects.toThrow("aborted");
  expect(await readFile(path, "utf8")).toBe(String(process.ppid));
});
