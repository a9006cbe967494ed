import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Fails, and passes when it runs once more. */
const disturbed = `if [[ -e ran ]]; then echo "2 passed, 0 failed"; exit 0; fi
touch ran
echo "failed: a/b.test.ts > waits: too late"
echo "1 passed, 1 failed"
exit 1
`;

describe("what .ci/run counts", () => {
  let folder: string;
  let functions: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "ci-run-"));
    await mkdir(join(folder, ".ci"));
    const script = await readFile(new URL("../../.ci/run", import.meta.url), "utf8");
    functions = script.slice(0, script.indexOf('step "install"'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Runs these steps in place of those of the script; its last lines. */
  const countsOf = async (steps: string, ref = ""): Promise<readonly string[]> => {
    await writeFile(join(folder, ".ci/run"), `${functions}\n${steps}\nprintf '%s' "$doubts"\necho "$passed $failed"`);
    await writeFile(join(folder, "disturbed"), disturbed);
    await rm(join(folder, "ran"), { force: true });
    const { stdout } = await promisify(execFile)("bash", [".ci/run"], {
      cwd: folder,
      env: { ...process.env, GITHUB_REF: ref },
    });
    return stdout.trim().split("\n");
  };

  it.each([
    ["refs/heads/main", "3 1"],
    ["refs/pull/1/merge", "3 0"],
  ])("is a failure on main alone for a test that passes only in a second run: %s", async (ref, counts) => {
    expect((await countsOf('step "tests" tests bash disturbed', ref)).slice(-2)).toEqual([
      "passed only in a second run: a/b.test.ts > waits: too late",
      counts,
    ]);
  });

  it.each([
    ["refs/heads/main", "0 1"],
    ["", "0 0"],
  ])("is a failure on main alone for what could not be installed: %s", async (ref, counts) => {
    expect((await countsOf('prepare "a dashboard" false', ref)).slice(-2)).toEqual([
      'not run: a dashboard, because "false" failed (see above)',
      counts,
    ]);
  });
});
