import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

describe("the summary of a test run", () => {
  it("names and counts failed hooks of a group, whose tests count as passed or skipped", () => {
    const folder = pathOf("testdata/hooks-that-fail");
    const args = ["run", `--root=${folder}`, `--reporter=${pathOf("summary-reporter.ts")}`];
    // The run of a whole vitest, not a part of this one.
    const { VITEST: _, ...env } = process.env;
    const { stdout, status } = spawnSync(pathOf("../node_modules/.bin/vitest"), args, { env, encoding: "utf8" });
    expect(stdout.trim().split("\n")).toEqual([
      expect.stringMatching(/^failed: .*hooks\.spec\.ts > a group whose last hook fails: after$/),
      expect.stringMatching(/^failed: .*hooks\.spec\.ts > a group whose first hook fails: before$/),
      "1 passed, 2 failed, 1 skipped",
    ]);
    expect(status).toBe(1);
  });
});
