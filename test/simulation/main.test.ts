import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Runs the command. Resolves with its exit status and what it printed. */
const run = (...flags: readonly string[]): Promise<{ readonly status: number; readonly output: string }> =>
  new Promise((resolve) => {
    const file = join(import.meta.dirname, "main.ts");
    execFile(process.execPath, ["--conditions=@millwright/source", file, ...flags], (error, stdout, stderr) => {
      resolve({ status: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr });
    });
  });

it.each([["--wrong"], ["--seeds", "many"], ["--profile", "unknown"]])("exits with 2 for %s %s", async (...flags) => {
  const { status, output } = await run(...flags);
  expect(output).toContain("npm run simulate");
  expect(status).toBe(2);
});

it("lists the profiles and the kinds of faults", async () => {
  const { status, output } = await run("--list");
  expect(status).toBe(0);
  expect(output).toMatch(/^ {2}mixed .*\n[^]*^ {2}crash-at-write .*up to 10 min/m);
});
