import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Runs a whole vitest, not a part of this one. */
function run(
  folder: string,
  ...more: readonly string[]
): { readonly lines: readonly string[]; readonly status: number | null } {
  const args = [
    "run",
    `--root=${pathOf(`testdata/${folder}`)}`,
    `--reporter=${pathOf("summary-reporter.ts")}`,
    ...more,
  ];
  const { VITEST: _, ...env } = process.env;
  const { stdout, status } = spawnSync(pathOf("../node_modules/.bin/vitest"), args, { env, encoding: "utf8" });
  return { lines: stdout.trim().split("\n"), status };
}

describe("the summary of a test run", () => {
  it("names and counts failed hooks of a group, whose tests count as passed or skipped", () => {
    const { lines, status } = run("hooks-that-fail");
    expect(lines).toEqual([
      expect.stringMatching(/^failed: .*hooks\.spec\.ts > a group whose last hook fails: after$/),
      expect.stringMatching(/^failed: .*hooks\.spec\.ts > a group whose first hook fails: before$/),
      "1 passed, 2 failed, 1 skipped",
    ]);
    expect(status).toBe(1);
  });

  it("names groups that are skipped, but not where tests are selected by name", () => {
    expect(run("skipped-groups")).toEqual({
      lines: [
        expect.stringMatching(/^not run: .*groups\.spec\.ts > outer > a group that needs what is not there$/),
        "1 passed, 0 failed, 3 skipped",
      ],
      status: 0,
    });
    expect(run("skipped-groups", "-t", "a test that runs").lines).toEqual(["1 passed, 0 failed, 3 skipped"]);
  });
});
