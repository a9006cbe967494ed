import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubectlPath } from "../harness/foreign-tools.ts";
import { type LocalRegistry, startLocalRegistry } from "../../tools/local-registry.ts";
import { driverPackages } from "../../tools/registry/driver-packages.ts";
import { type Program, startProgram } from "../harness/program.ts";
import { applyDiff, type Block, blocksOf, fileOf } from "../harness/tutorial-blocks.ts";

const tutorial = fileURLToPath(new URL("../../docs/drivers/tutorial.md", import.meta.url));

/** Commands that run until they are stopped, and what they print when they are ready. */
const servers: readonly (readonly [string, RegExp])[] = [
  ["node test/data-center.ts", /listens at/],
  ["npx millwright dev ", /Ctrl-C stops everything/],
];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("the tutorial for authors of drivers, in an empty folder with packed packages", () => {
  let registry: LocalRegistry | undefined;
  let home = "";
  let cwd: string;
  let env: Record<string, string | undefined>;
  let output = "";
  const outputs = new Map<string, string>();
  const running: Program[] = [];

  beforeAll(async () => {
    // Those of packages/create-driver/template/README.md.
    registry = await startLocalRegistry(await driverPackages());
    home = await mkdtemp(join(tmpdir(), "millwright-tutorial-"));
    cwd = join(home, "work");
    const bin = join(home, "bin");
    for (const folder of [cwd, bin]) await mkdir(folder);
    await symlink(process.execPath, join(bin, "node"));
    await symlink(await kubectlPath(), join(bin, "kubectl"));
    env = {
      // Nothing of this repository is on the path but Node.
      PATH: [
        bin,
        ...(process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.includes("node_modules")),
      ].join(delimiter),
      HOME: home,
      npm_config_registry: registry.url,
      npm_config_cache: join(home, "cache"),
      npm_config_userconfig: join(home, "npmrc"),
      npm_config_yes: "true",
      npm_config_update_notifier: "false",
      npm_config_noproxy: "127.0.0.1",
      NO_PROXY: "127.0.0.1",
      NODE_OPTIONS: "",
      NODE_TEST_CONTEXT: undefined,
    };
  }, 300_000);
  afterAll(async () => {
    for (const program of running) await program.stop("SIGTERM");
    await registry?.close();
    await rm(home, { recursive: true, force: true });
  });

  const runLine = async (line: string): Promise<void> => {
    const [, folder] = /^cd (.+)$/.exec(line) ?? [];
    const [, name = "", value = ""] = /^export (\w+)=(.+)$/.exec(line) ?? [];
    if (folder !== undefined) cwd = join(cwd, folder);
    else if (name !== "") env[name] = value.replace("$PWD", cwd);
    else {
      // What npx runs, without npx between: it passes no signals on.
      const command = line.replace(/^npx /, "exec node_modules/.bin/").replace(/^node /, "exec node ");
      const program = startProgram(line, "bash", ["-c", `cd '${cwd}' && ${command}`], env);
      const server = servers.find(([start]) => line.startsWith(start));
      if (server !== undefined) {
        running.unshift(program);
        await program.waitFor(server[1], 60_000);
        return;
      }
      const status = await program.ended;
      output = program.output();
      outputs.set(line, output);
      expect(status, `${line}:\n${output}`).toBe(0);
    }
  };

  const follow = async (block: Block): Promise<void> => {
    const named = fileOf(block);
    if (block.language === "sh") for (const line of block.text.trimEnd().split("\n")) await runLine(line);
    else if (named === undefined) return;
    else if (block.language === "diff") {
      const path = join(cwd, named.file);
      await writeFile(path, applyDiff(await readFile(path, "utf8"), block.text));
    } else {
      const text = block.text.slice(block.text.indexOf("\n") + 1);
      await writeFile(join(cwd, named.file), text, { flag: named.isMore ? "a" : "w" });
    }
  };

  /** Other tests may use the port of the template. */
  const usePort = async (port: number): Promise<true> => {
    for (const file of ["example.yaml", "test/data-center.ts"]) {
      const path = join(cwd, file);
      await writeFile(path, (await readFile(path, "utf8")).replaceAll("7070", `${port}`));
    }
    return true;
  };

  it("ends with a driver that conforms, and with a fleet that ran and is deleted", async () => {
    const blocks = blocksOf(await readFile(tutorial, "utf8"));
    const shown: string[] = [];
    const port = await freePort();
    let isMoved = false;
    for (const block of blocks) {
      await follow(block);
      if (!isMoved && cwd.endsWith("my-cloud")) isMoved = await usePort(port);
      // What a page shows as output was printed by the command before.
      if (block.language !== "text" || /^(npx|npm|export|podman) /.test(block.text)) continue;
      for (const line of block.text.trimEnd().split("\n")) expect(output).toContain(line);
      shown.push(block.text);
    }
    expect(blocks.filter(({ language }) => language === "sh").length).toBeGreaterThan(6);
    expect(shown).toEqual([expect.stringContaining("conforms at level bronze"), "Level: bronze.\n"]);
    expect(outputs.get("kubectl get machines")?.match(/Running/g)).toHaveLength(2);
    const headers = { authorization: "Bearer token-of-the-data-center" };
    const left = await fetch(`http://127.0.0.1:${port}/vms`, { headers });
    expect(await left.json()).toEqual({ vms: [], next: "" });
  }, 300_000);
});
