import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "./main.ts";

const modules = dirname(dirname(createRequire(import.meta.url).resolve("vitest/package.json")));

describe("npm create millwright-driver", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "create-driver-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** All files of a folder with their text. */
  const textsOf = async (path: string): Promise<ReadonlyMap<string, string>> => {
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, "utf8")] as const)));
  };

  /** Runs tests of a created package on the Node of this test. */
  const runTests = (path: string): Promise<{ readonly status: number; readonly output: string }> =>
    new Promise((resolve) => {
      const args = ["--conditions=@millwright/source", "--test", "test/**/*.test.ts"];
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      execFile(process.execPath, args, { cwd: path, env }, (error, stdout) => {
        resolve({ status: error === null ? 0 : 1, output: stdout });
      });
    });

  it("writes a driver that conforms at level bronze before the first edit", async () => {
    const { status, output, errors } = await main(["@acme/tiny"], folder);
    expect({ status, errors }).toEqual({ status: 0, errors: "" });
    expect(output).toContain("cd tiny\n");
    const path = join(folder, "tiny");
    await symlink(modules, join(path, "node_modules"), "dir");
    const tested = await runTests(path);
    expect(tested.output).toContain("conforms at level bronze");
    expect(tested.output).toMatch(/pass 7\d\n.*fail 0\n/);
    expect(tested.status).toBe(0);
  });

  it("writes a driver whose violation of the contract fails its test", async () => {
    await main(["tiny"], folder);
    const path = join(folder, "tiny");
    await symlink(modules, join(path, "node_modules"), "dir");
    const source = join(path, "src/index.ts");
    const text = await readFile(source, "utf8");
    const broken = text.replace(
      "(each) => isOfMachine(each, machine, spec)",
      "({ tags }) => tags.machine === machine.name",
    );
    expect(broken).not.toBe(text);
    await writeFile(source, broken);
    const tested = await runTests(path);
    expect(tested.status).toBe(1);
    expect(tested.output).toContain("status.other-machines-are-not-found: getMachineStatus");
  });

  it("puts the name in place of that of the template", async () => {
    await main(["@acme/tiny"], folder);
    const texts = await textsOf(join(folder, "tiny"));
    for (const [file, text] of texts) expect(text, file).not.toContain("my-cloud");
    const at = (file: string): string => texts.get(join(folder, "tiny", file)) ?? "";
    expect(JSON.parse(at("package.json"))).toMatchObject({ name: "@acme/tiny" });
    expect(at("src/index.ts")).toContain('name: "tiny"');
    expect(at("example.yaml")).toContain("provider: tiny\n");
    expect(at(".gitignore")).toContain("node_modules/");
    expect(at(".github/workflows/ci.yml")).toContain("npm test");
  });

  it("keeps what is in a folder, and accepts an empty one and a new Git repository", async () => {
    for (const name of ["full", "empty", "repository"]) await mkdir(join(folder, name));
    await writeFile(join(folder, "full/notes"), "mine");
    await writeFile(join(folder, "file"), "mine");
    await mkdir(join(folder, "repository/.git"));
    const full = await main(["full"], folder);
    expect(full).toEqual({
      status: 2,
      output: "",
      errors: `create-millwright-driver: folder ${folder}/full is not empty: it has notes; use another name, or remove it\n`,
    });
    expect(await readdir(join(folder, "full"))).toEqual(["notes"]);
    expect((await main(["file"], folder)).errors).toContain("/file is a file\n");
    expect((await main(["empty"], folder)).status).toBe(0);
    expect((await main(["repository"], folder)).status).toBe(0);
  });

  it("rejects names that npm, a MachineClass or Kubernetes could not have", async () => {
    const long = "a".repeat(41);
    const wrong = [
      "My-cloud",
      "my_cloud",
      "my cloud",
      ".",
      "..",
      "/tmp/x",
      "-x",
      "x-",
      "@acme/",
      "@/x",
      "",
      "a..b",
      long,
    ];
    for (const name of wrong) {
      const { status, errors } = await main(["--", name], folder);
      expect({ name, status }).toEqual({ name, status: 2 });
      expect(errors).toMatch(
        /^create-millwright-driver: ".*" cannot be the name of a driver: use up to 40 lowercase letters/,
      );
    }
    expect((await main(["http"], folder)).errors).toContain("npm reserves it");
    expect(await readdir(folder)).toEqual([]);
    for (const name of ["a", "0", "my.cloud", "a".repeat(40)]) expect((await main([name], folder)).status).toBe(0);
  });

  it("names the version of Node that the package needs, if the running one is older", async () => {
    const hints: string[] = [];
    for (const [name, version] of [
      ["a", "20.20.2"],
      ["b", "22.18.0"],
      ["c", "22.19.0"],
      ["d", "24.0.0"],
    ] as const)
      hints.push((await main([name], folder, version)).output.split("driver contract\n")[1] ?? "");
    expect(hints).toEqual([
      "\nInstall Node 22.19 or newer first: this is 20.20.2, which cannot run the tests.\n",
      "\nInstall Node 22.19 or newer first: this is 22.18.0, which cannot run the tests.\n",
      "",
      "",
    ]);
    const { engines } = JSON.parse(await readFile(join(folder, "a/package.json"), "utf8")) as {
      readonly engines: object;
    };
    expect(engines).toEqual({ node: ">=22.19" });
  });

  it("prints its usage, and what is wrong with arguments in one line", async () => {
    const help = await main(["--help"], folder);
    expect(help.status).toBe(0);
    expect(help.output).toContain("Usage: npm create millwright-driver NAME\n");
    for (const [args, message] of [
      [[], "expects one name"],
      [["a", "b"], "expects one name"],
      [["--force"], "Unknown option '--force'"],
    ] as const) {
      const { status, errors } = await main(args, folder);
      expect(status).toBe(2);
      expect(errors).toContain(message);
      expect(errors.trimEnd()).not.toContain("\n");
    }
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("the template", () => {
  interface Manifest {
    readonly version: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly peerDependencies?: Readonly<Record<string, string>>;
    readonly devDependencies?: Readonly<Record<string, string>>;
    readonly engines?: Readonly<Record<string, string>>;
  }
  const read = async (path: string): Promise<Manifest> =>
    JSON.parse(await readFile(new URL(path, import.meta.url), "utf8")) as Manifest;

  it("names the versions of this repository", async () => {
    const { version } = await read("../package.json");
    const root = await read("../../../package.json");
    const core = await read("../../core/package.json");
    const { dependencies, peerDependencies, devDependencies, engines } = await read(
      "../template/package.template.json",
    );
    const own = `^${version}`;
    // As far as the contract goes, not only to the next minor version.
    expect(peerDependencies).toEqual({
      "@millwright/core": `>=${version} <${Number.parseInt(version, 10) + 1}`,
    });
    expect(dependencies).toEqual({ zod: core.dependencies?.["zod"] });
    const ours = ["cli", "conformance", "core"];
    expect(devDependencies).toEqual({
      ...Object.fromEntries(ours.map((name) => [`@millwright/${name}`, own])),
      "@types/node": `^${root.devDependencies?.["@types/node"]}`,
      typescript: `^${root.devDependencies?.["typescript"]}`,
    });
    expect(engines).toEqual(core.engines);
    for (const name of ours) expect((await read(`../../${name}/package.json`)).version).toBe(version);
  });
});
