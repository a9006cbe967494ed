import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer } from "@millwright/devcluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin, startMillwright } from "../harness/millwright.ts";

describe("the command line", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-e2e-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs a command to its end. */
  const run = async (...args: string[]): Promise<{ readonly code: number; readonly output: string }> => {
    const command = startMillwright(args);
    const code = await command.ended;
    return { code, output: command.output() };
  };
  /** The single line of an error message, without a stack. */
  const oneLine = (output: string): string => {
    const lines = output.trimEnd().split("\n");
    expect(lines, output).toHaveLength(1);
    expect(output).not.toContain("    at ");
    return lines[0] ?? "";
  };

  it("prints no stack when the reader of its output goes away", () => {
    const command = `"$0" --conditions=@millwright/source "$1" run --help | true`;
    const { stderr } = spawnSync("bash", ["-c", command, process.execPath, bin], { encoding: "utf8" });
    expect(stderr).toBe("");
  });

  it("starts the example and exits with status 0 when it is Running", async () => {
    const { code, output } = await run("dev", "--exit-when-ready");
    expect(code, output).toBe(0);
    expect(output).toMatch(/machine example-\S+: Pending -> Running/);
    expect(output).toContain("example: 3 desired, 3 ready, 3 up to date");
  });

  it("exits with status 1 when it is stopped before the example is Running", async () => {
    const dev = startMillwright(["dev", "--exit-when-ready"]);
    await dev.waitFor(/kubeconfig: /);
    const code = await dev.stop("SIGINT");
    // The example may be ready before the signal arrives.
    const wasReady = dev.output().includes("3 ready");
    expect(wasReady ? 1 : code, dev.output()).toBe(1);
    expect(dev.output()).toContain("all data is removed");
  });

  it("keeps a cluster and its cloud in a data folder when it is killed", async () => {
    const data = join(folder, "kept");
    const first = startMillwright(["dev", "--data", data]);
    await first.waitFor(/3 ready/);
    expect((await stat(join(data, "kubeconfig"))).mode & 0o777).toBe(0o600);
    await first.stop("SIGKILL");
    const second = startMillwright(["dev", "--data", data]);
    await second.waitFor(/3 desired, 3 ready/);
    expect(second.output()).not.toContain("Pending");
    expect(await second.stop("SIGINT")).toBe(0);
  });

  it("names a port that is in use", async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    const { code, output } = await run("dev", "--port", String(port));
    server.close();
    expect(code).toBe(1);
    expect(oneLine(output)).toMatch(new RegExp(`^millwright: .*port ${port} .*in use.*choose another port`));
  });

  it.each([
    ["no file", undefined, "does not exist"],
    ["no YAML", "{{{", "kubeconfig"],
    ["an empty file", "", "kubeconfig"],
    ["no context", "apiVersion: v1\nkind: Config\n", "current-context is not set"],
    [
      "a context without its cluster",
      "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{ name: a, context: { cluster: b, user: c } }]\n",
      'names the cluster "b", which is not under clusters',
    ],
  ])("rejects an invalid kubeconfig (%s) in one line that names the file", async (name, content, expected) => {
    const file = join(folder, `${name.replaceAll(" ", "-")}.yaml`);
    if (content !== undefined) await writeFile(file, content);
    const { code, output } = await run("run", "--provider", "mock", "--control-kubeconfig", file);
    expect(code).toBe(1);
    expect(oneLine(output)).toContain(file);
    expect(output).toContain(expected);
  });

  describe("of a command that reads a cluster", () => {
    const server = createApiServer({
      tokens: { root: { user: "root", groups: ["system:masters"] }, jane: { user: "jane", groups: [] } },
      authorization: "RBAC",
    });
    let urls: Readonly<Record<string, string>>;
    beforeAll(async () => {
      const { url } = await server.listen();
      // Port 1 has no listener.
      urls = { up: url, down: "http://127.0.0.1:1" };
    });
    afterAll(() => server.close());

    it.each([
      ["down", "root", ["describe", "machine", "m"], "the API server is unreachable: .*ECONNREFUSED"],
      ["down", "root", ["drain", "n", "--dry-run"], "the API server is unreachable: .*ECONNREFUSED"],
      ["up", "root", ["describe", "machine", "m"], "does not serve the machine kinds: .*millwright crds"],
      ["up", "root", ["drain", "n", "--dry-run"], 'there is no node "n"'],
      ["up", "jane", ["describe", "machine", "m"], '"m" is forbidden: .*; a description needs get on machines'],
      ["up", "jane", ["drain", "n", "--dry-run"], '"n" is forbidden: .*; a dry run needs get and list on nodes'],
      ["up", "unknown", ["describe", "machine", "m"], "does not accept the credentials of the kubeconfig"],
    ] as const)("reports an error in one line: server %s, user %s, %j", async (where, who, args, expected) => {
      const file = join(folder, `${where}-${who}.yaml`);
      const parts = {
        clusters: [{ name: "c", cluster: { server: urls[where] } }],
        users: [{ name: who, user: { token: who } }],
        contexts: [{ name: "c", context: { cluster: "c", user: who } }],
      };
      await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "c", ...parts }));
      const flag = args[0] === "drain" ? "--kubeconfig" : "--control-kubeconfig";
      const { code, output } = await run(...args, flag, file);
      expect(code, output).toBe(1);
      expect(oneLine(output)).toMatch(new RegExp(`^millwright: .*${expected}`));
    });
  });

  it("rejects a driver package that does not exist, and one that is not a driver", async () => {
    const missing = await run("run", "--provider", "@example/no-such-driver");
    expect(missing.code).toBe(1);
    expect(oneLine(missing.output)).toContain(
      "--provider @example/no-such-driver: the package is not installed: npm install",
    );
    const file = join(folder, "not-a-driver.mjs");
    await writeFile(file, "export default { name: 'half' };\n");
    const half = await run("run", "--provider", file);
    expect(half.code).toBe(1);
    expect(oneLine(half.output)).toContain(`--provider ${file}`);
  });

  it("loads a driver only with the digest that driver digest prints", async () => {
    const file = join(folder, "driver.mjs");
    await writeFile(file, "export default {};\n");
    const { code, output } = await run("driver", "digest", file);
    expect(code, output).toBe(0);
    const [pin = ""] = output.split("\n");
    expect(pin.startsWith(`${file}=sha256:`)).toBe(true);
    const same = await run("run", "--provider", file, "--provider-digest", pin);
    expect(oneLine(same.output)).toContain("it has no default export");
    await writeFile(file, "export default { name: 'other' };\n");
    for (const flag of ["--provider", "--provider-in-process"]) {
      const changed = await run("run", flag, file, "--provider-digest", pin);
      expect(changed.code).toBe(1);
      expect(oneLine(changed.output)).toMatch(
        /^millwright: --provider [^ ]*driver\.mjs: its files have changed: the digest is/,
      );
    }
  });

  it("reports an invalid flag or command with status 2", async () => {
    expect(await run("dev", "--port", "seventy")).toMatchObject({
      code: 2,
      output: expect.stringContaining("expected a port from 0 to 65535"),
    });
    expect(await run("dve")).toMatchObject({ code: 2, output: expect.stringContaining("Did you mean dev?") });
    expect(await run("run", "--provider=mock", "--safety-up=-1")).toMatchObject({
      code: 2,
      output: expect.stringContaining("expected a number from 0 to 999999"),
    });
    // Zero is a valid number of attempts.
    expect((await run("run", "--provider=@example/none", "--machine-max-evict-retries=0")).code).toBe(1);
    expect(await run("run")).toMatchObject({ code: 2, output: expect.stringContaining("--provider") });
    expect(await run("dev", "--exit-when-ready", "--no-example")).toMatchObject({ code: 2 });
  });

  it("prints help, its version and the CRDs", async () => {
    expect(await run("--help")).toMatchObject({
      code: 0,
      output: expect.stringContaining("run everything on this machine"),
    });
    const version = /^millwright \d+\.\d+\.\d+ \(Node 24\./;
    expect((await run("version")).output).toMatch(version);
    expect((await run("--version")).output).toMatch(version);
    const { output } = await run("crds", "-o", "json");
    const list = JSON.parse(output) as { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual([
      "machineclasses.machine.sapcloud.io",
      "machinedeployments.machine.sapcloud.io",
      "machines.machine.sapcloud.io",
      "machinesets.machine.sapcloud.io",
    ]);
  });

  it("prints the admission policies", async () => {
    const { code, output } = await run("admission");
    expect(code).toBe(0);
    expect(output.match(/^kind: .*$/gm)).toEqual([
      "kind: ValidatingAdmissionPolicy",
      "kind: ValidatingAdmissionPolicyBinding",
      "kind: ValidatingAdmissionPolicy",
      "kind: ValidatingAdmissionPolicyBinding",
    ]);
  });
});
