import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { publishedPackages, root } from "../../tools/release/packages.ts";

const copy = mkdtempSync(join(tmpdir(), "millwright-release-"));
const git = (...args: readonly string[]): string => {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...identity, ...args], { cwd: copy, encoding: "utf8" }).trim();
};
const commit = (subject: string): string => git("commit", "--quiet", "--allow-empty", "-m", subject);

/** `nx release` in the copy, without a registry: nothing listens at its address. */
async function release(...args: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    CI: "true",
    NX_DAEMON: "false",
    NX_WORKSPACE_ROOT_PATH: copy,
    npm_config_registry: "http://127.0.0.1:9/",
    npm_config_fetch_retries: "0",
  };
  const nx = join(root, "node_modules/nx/dist/bin/nx.js");
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [nx, "release", ...args], {
    cwd: copy,
    env,
    maxBuffer: 64 << 20,
  });
  return stripVTControlCharacters(stdout + stderr);
}

/** What a release would leave behind: files, commits, tags. */
const state = (): string => [git("status", "--porcelain"), git("log", "-1", "--format=%H"), git("tag")].join("\n");

beforeAll(() => {
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  for (const file of new Set(files.split("\0").filter(Boolean)))
    cpSync(join(root, file), join(copy, file), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  git("init", "--quiet");
  writeFileSync(join(copy, ".git/info/exclude"), "node_modules\n");
  git("add", "--all");
  commit("kube: a change of the version before");
  git("tag", "v0.1.0");
  commit("kube: one watch less");
  commit("cli, runtime: a flag from a file");
  commit("test: a wait less");
});
afterAll(async () => rm(copy, { recursive: true, force: true }));

describe("nx release --dry-run in a clone without a network", () => {
  it("plans the version everywhere, the changelog and the tarballs, and changes nothing", async () => {
    const before = state();
    const plan = await release("9.8.7", "--dry-run", "--yes");
    for (const { folder, manifest } of publishedPackages()) {
      expect(plan).toContain(`UPDATE ${folder}/package.json [dry-run]`);
      expect(plan, "npm lists the tarball").toMatch(new RegExp(`name: ${manifest.name}\\b`));
    }
    for (const file of ["package.json", "package-lock.json", "charts/millwright/Chart.yaml"])
      expect(plan).toContain(`UPDATE ${file} [dry-run]`);
    expect(plan).toContain('+     "@millwright/base": "^9.8.7"');
    expect(plan).toContain("+ appVersion: 9.8.7");
    expect(plan).toContain("+ - one watch less");
    expect(plan).toContain("+ - a flag from a file");
    expect(plan).not.toContain("a wait less");
    expect(plan).not.toContain("a change of the version before");
    expect(state()).toBe(before);
  });

  it("sets one version in all manifests, the lock file, the template and the chart, and tags it", async () => {
    git("config", "user.name", "test");
    git("config", "user.email", "test@example.com");
    await release("9.8.7", "--skip-publish");
    expect(git("tag", "--points-at", "HEAD")).toBe("v9.8.7");
    expect(git("status", "--porcelain")).toBe("");
    for (const { folder } of publishedPackages())
      expect(JSON.parse(readFileSync(join(copy, folder, "package.json"), "utf8")), folder).toHaveProperty(
        "version",
        "9.8.7",
      );
    expect(readFileSync(join(copy, "CHANGELOG.md"), "utf8")).toMatch(/^## 9\.8\.7 .*one watch less/s);
    // Nothing of the old version is left in a place that a release must change.
    const changed = git("diff", "--name-only", "HEAD~1").split("\n");
    expect(changed.map((file) => dirname(file))).toContain("charts/millwright");
    execFileSync("npm", ["ls", "--package-lock-only", "--workspaces", "--depth=0"], { cwd: copy, stdio: "pipe" });
    const old = /"(?:@millwright\/[\w-]+|create-millwright-driver)": "\^?0\.1\.0"/;
    for (const file of changed) expect(readFileSync(join(copy, file), "utf8"), file).not.toMatch(old);
  });
});
