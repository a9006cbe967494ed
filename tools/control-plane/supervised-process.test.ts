import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { startSupervised } from "./supervised-process.ts";
import { script, temporaryFolder } from "./testing/temporary-folder.ts";

/** Writes its process ID to a file, then runs for a minute. */
const longRunning = 'echo $$ > "$1"; exec sleep 60';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const writtenId = (file: string): Promise<number> =>
  vi.waitFor(async () => {
    const pid = Number(await readFile(file, "utf8"));
    if (!(pid > 0)) throw new Error("not yet");
    return pid;
  }, 5_000);

test("stops a program when asked, twice without harm", async () => {
  const folder = await temporaryFolder();
  const program = await script(folder, "program", longRunning);
  const supervised = startSupervised(program, [join(folder, "pid")], join(folder, "log"));
  const pid = await writtenId(join(folder, "pid"));
  await Promise.all([supervised.stop(), supervised.stop()]);
  expect(isAlive(pid)).toBe(false);
  await supervised.stop();
});

test("reports how a program ended and its last output in one line", async () => {
  const folder = await temporaryFolder();
  const program = await script(folder, "program", "echo first; echo the port is taken >&2; exit 3");
  const how = await startSupervised(program, [], join(folder, "log")).ended;
  expect(how).toBe(`${program} ended with 3; its log ends with: first | the port is taken`);
});

test("reports that a program cannot be started", async () => {
  const folder = await temporaryFolder();
  const how = await startSupervised("/nowhere/program", [], join(folder, "log")).ended;
  expect(how).toMatch(/^\/nowhere\/program ended with 127; .*not found/);
});

test("a program does not outlive the process that started it, even when that is killed", async () => {
  const folder = await temporaryFolder();
  const program = await script(folder, "program", longRunning);
  const url = new URL("./supervised-process.ts", import.meta.url).href;
  const code = `
    import { startSupervised } from ${JSON.stringify(url)};
    startSupervised(${JSON.stringify(program)}, [${JSON.stringify(join(folder, "pid"))}], ${JSON.stringify(join(folder, "log"))});
    setTimeout(() => {}, 60_000);
  `;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: "ignore" });
  const pid = await writtenId(join(folder, "pid"));
  expect(isAlive(pid)).toBe(true);
  parent.kill("SIGKILL");
  await once(parent, "exit");
  for (let waitedMs = 0; isAlive(pid) && waitedMs < 8_000; waitedMs += 50) await delay(50);
  expect(isAlive(pid)).toBe(false);
});
