import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalRegistry, startLocalRegistry } from "../../tools/local-registry.ts";
import { nodeOfVersion } from "../harness/node-versions.ts";
import { startProgram } from "../harness/program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** All packages as they would be published, installed in an empty folder, on the oldest Node that they name. */
describe("the packed packages", () => {
  let registry: LocalRegistry | undefined;
  let folder = "";
  let names: readonly string[];
  let oldest: string;

  beforeAll(async () => {
    const files = globSync(["packages/*/package.json", "providers/*/package.json"], { cwd: root });
    const manifests = await Promise.all(
      files.map(async (file) => JSON.parse(await readFile(join(root, file), "utf8"))),
    );
    names = manifests.map(({ name }) => String(name));
    oldest = await nodeOfVersion(`${String(manifests[0].engines.node).replace(">=", "")}.0`);
    registry = await startLocalRegistry(names);
    folder = await mkdtemp(join(tmpdir(), "millwright-packed-"));
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const env = {
      ...process.env,
      npm_config_registry: registry.url,
      npm_config_cache: join(folder, "cache"),
      npm_config_userconfig: join(folder, "npmrc"),
      npm_config_noproxy: "127.0.0.1",
    };
    await run("npm", ["install", "--no-audit", "--no-fund", ...names], { cwd: folder, env, maxBuffer: 64 << 20 });
  }, 400_000);
  afterAll(async () => {
    await registry?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const millwright = (node: string, ...args: readonly string[]) =>
    startProgram(`millwright ${args.join(" ")}`, node, [
      join(folder, "node_modules/@millwright/cli/dist/bin.js"),
      ...args,
    ]);

  it("are loaded by the oldest Node", async () => {
    const script = names
      .filter((name) => name.startsWith("@"))
      .map(
        (name) => `if (Object.keys(await import("${name}")).length === 0) throw new Error("${name} exports nothing");`,
      )
      .join("\n");
    await writeFile(join(folder, "load.js"), script);
    const loaded = startProgram("load.js", oldest, [join(folder, "load.js")]);
    expect(await loaded.ended, loaded.output()).toBe(0);
  });

  it("run a fleet on the oldest Node", async () => {
    const version = millwright(oldest, "version");
    expect(await version.ended, version.output()).toBe(0);
    const dev = millwright(oldest, "dev", "--exit-when-ready");
    expect(await dev.ended, dev.output()).toBe(0);
  });

  it("name the Node that they need to a user with an older one", async () => {
    const old = millwright(await nodeOfVersion("20.19.0"), "version");
    expect(await old.ended).toBe(1);
    expect(old.output()).toMatch(/^millwright needs Node \d+\.\d+ or newer, and this is Node 20\.19\.0\. [^\n]*\n$/);
  });
});
