import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { platform } from "node:process";
import { systemClock } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, readProgramOutput } from "./program-output.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "program-"));
});
afterAll(() => rm(folder, { recursive: true }));

const program = (script: string, more: Partial<Program> = {}): Program => ({
  command: process.execPath,
  args: ["-e", script],
  env: process.env,
  timeoutMs: 60_000,
  isInTerminal: false,
  ...more,
});

/** A script that starts another program with its own output, writes the process id of that one, and goes on with `then`. */
const starting = (then: string): string => `
  const { spawn } = require("node:child_process");
  const { writeFileSync } = require("node:fs");
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: ["ignore", "inherit", "inherit"] });
  ${then}`;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("returns a long output as a whole", async () => {
  const script = `process.stdout.write("x".repeat(500_000), () => process.stdout.write("y"))`;
  const output = await readProgramOutput(program(script), createVirtualClock());
  expect(output).toHaveLength(500_001);
});

test("does not wait for what the program leaves in the background with its output open", async () => {
  const output = await readProgramOutput(program(starting("console.log(child.pid); child.unref();")), systemClock);
  const pid = Number(output);
  expect(isRunning(pid)).toBe(true);
  process.kill(pid);
});

// A program on Windows has no process group.
test.runIf(platform !== "win32")("ends at the deadline what the program started, too", async () => {
  const clock = createVirtualClock();
  const file = join(folder, "pid");
  const script = starting(`writeFileSync(${JSON.stringify(file)}, String(child.pid));`);
  const output = readProgramOutput(program(script, { timeoutMs: 5_000 }), clock);
  const failure = output.catch(String);
  const pid = async () => Number(await readFile(file, "utf8").catch(() => ""));
  await expect.poll(pid).toBeGreaterThan(0);
  await clock.advance(5_000);
  expect(await failure).toContain("did not exit within 5000 ms");
  const started = await pid();
  await expect.poll(() => isRunning(started)).toBe(false);
});

test("fails at the deadline although the program does not end when it is asked to", async () => {
  const clock = createVirtualClock();
  const script = `process.on("SIGTERM", () => {}); setTimeout(() => {}, 2_000)`;
  const output = readProgramOutput(program(script, { timeoutMs: 5_000 }), clock);
  const failure = output.catch(String);
  await clock.advance(5_000);
  expect(await failure).toContain("did not exit within 5000 ms");
});

test("fails with the reason when the program cannot be started", async () => {
  const missing = program("", { command: "/does/not/exist" });
  await expect(readProgramOutput(missing, systemClock)).rejects.toMatchObject({ code: "ENOENT" });
});
