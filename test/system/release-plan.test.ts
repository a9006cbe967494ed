import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type LocalRegistry, startLocalRegistry } from "../../tools/local-registry.ts";
import { publishedPackages, root } from "../../tools/release/packages.ts";
import { startProgram } from "../harness/program.ts";

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

/** The steps of the workflow from the check of the tag on, without those that install, test and build: that is done. */
const publishSteps = (): readonly { readonly run: string; readonly env?: object }[] => {
  const { jobs } = parse(readFileSync(join(root, ".github/workflows/release.yaml"), "utf8"));
  const done = ["npm ci", "npm test", "npm run build", "npm run check:built"];
  return jobs.packages.steps.filter(({ run }: { run?: string }) => run !== undefined && !done.includes(run));
};

/** What the tag of the test before points to. */
describe("the release workflow, with a registry on this machine", () => {
  const token = "a-token-of-the-registry";
  const names = publishedPackages().map(({ manifest }) => manifest.name);
  const home = mkdtempSync(join(tmpdir(), "millwright-publish-"));
  let broken: string | undefined = "@millwright/conformance";
  let registry: LocalRegistry;

  beforeAll(async () => {
    registry = await startLocalRegistry(names, { publishing: { token, breaksOn: (name) => name === broken } });
    for (const { folder } of publishedPackages()) {
      cpSync(join(root, folder, "dist"), join(copy, folder, "dist"), { recursive: true });
      // A provenance is signed with the identity of a run of the workflow, which a test has not.
      execFileSync("npm", ["pkg", "delete", "publishConfig.provenance"], { cwd: join(copy, folder) });
    }
  }, 400_000);
  afterAll(async () => {
    await registry.close();
    await rm(home, { recursive: true, force: true });
  });

  const environment = (): NodeJS.ProcessEnv => ({
    ...process.env,
    CI: "true",
    NX_DAEMON: "false",
    NX_WORKSPACE_ROOT_PATH: copy,
    GITHUB_REF_NAME: "v9.8.7",
    npm_config_registry: `${registry.url}/`,
    npm_config_userconfig: join(home, "npmrc"),
    npm_config_cache: join(home, "cache"),
    npm_config_noproxy: "127.0.0.1",
    npm_config_fetch_retries: "0",
  });
  /** Runs the steps as a runner of GitHub does, until one fails; with the status of the last one. */
  const runSteps = async (
    more: NodeJS.ProcessEnv = {},
  ): Promise<{ readonly status: number; readonly output: string }> => {
    let output = "";
    for (const { run, env = {} } of publishSteps()) {
      const secrets = Object.fromEntries(Object.keys(env).map((name) => [name, token]));
      const step = startProgram(run, "bash", ["-c", `cd "${copy}" && set -eo pipefail; ${run}`], {
        ...environment(),
        ...secrets,
        ...more,
      });
      const status = await step.ended;
      output += stripVTControlCharacters(step.output());
      if (status !== 0) return { status, output };
    }
    return { status: 0, output };
  };

  it("publishes nothing for a tag of another version", async () => {
    expect((await runSteps({ GITHUB_REF_NAME: "v9.8.8" })).status).not.toBe(0);
    expect(registry.published()).toEqual([]);
  });

  it("goes on where a run stopped, and publishes each package once", async () => {
    const first = await runSteps();
    expect(first.status, first.output).not.toBe(0);
    const before = registry.published();
    expect(before, first.output).toContain("@millwright/base@9.8.7");
    expect(before).not.toContain(`${broken}@9.8.7`);
    broken = undefined;
    const second = await runSteps();
    expect(second.status, second.output).toBe(0);
    expect(second.output).toContain("@millwright/base@9.8.7 is published already");
    expect(registry.published()).toHaveLength(names.length);
    expect(new Set(registry.published())).toEqual(new Set(names.map((name) => `${name}@9.8.7`)));
  }, 400_000);

  it("makes packages that are installed in an empty folder, and run", async () => {
    const folder = join(home, "project");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), '{"private":true}');
    const packages = ["@millwright/cli", "@millwright/provider-mock"];
    await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", ...packages], {
      cwd: folder,
      env: environment(),
      maxBuffer: 64 << 20,
    });
    const bin = realpathSync(join(folder, "node_modules/.bin/millwright"));
    const help = startProgram("millwright --help", process.execPath, [bin, "--help"]);
    expect(await help.ended, help.output()).toBe(0);
    expect(help.output()).toContain("Usage: millwright");
    const version = startProgram("millwright version", process.execPath, [bin, "version"]);
    expect(await version.ended, version.output()).toBe(0);
    expect(version.output()).toContain("9.8.7");
  });
});
