import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crds, machineApiVersion, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import {
  createApiClient,
  customResourceDefinitionResource,
  loadKubeConfig,
  namespaceResource,
  nodeResource,
} from "@millwright/kube";
import type { Command } from "commander";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { parse, stringify } from "yaml";
import { main } from "./main.ts";
import { createProgram } from "./program.ts";

/** Every command that does something, with the words that select it. */
const commandsOf = (command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] => {
  const inner = command.commands.flatMap((each) => commandsOf(each, [...words, each.name()]));
  // `millwright crds` does something by itself, `millwright describe` does not.
  const isLeaf = inner.length === 0 || words.join(" ") === "crds";
  return [...(isLeaf && words.length > 0 ? [[words.join(" "), command] as const] : []), ...inner];
};
const commands = commandsOf(createProgram(() => undefined));
const names = commands.map(([name]) => name);

// Each run listens for signals until its process ends; here all runs have one process.
process.setMaxListeners(200);

/** An export without machines, so that no cloud is asked. */
const exported = join(tmpdir(), `millwright-export-${process.pid}.yaml`);

let folder: string;
let server: ApiServer;
let kubeconfig: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-commands-"));
  server = createApiServer();
  const { url } = await server.listen();
  kubeconfig = join(folder, "kubeconfig");
  await writeFile(
    exported,
    stringify({ apiVersion: machineApiVersion, kind: "MachineClass", metadata: { name: "a" }, providerSpec: {} }),
  );
  const contexts = kubeconfigFor(url, {});
  await writeFile(kubeconfig, contexts);
  const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), {});
  for (const crd of crds())
    await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
  await api.close();
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
  await rm(exported);
});
afterEach(() => vi.restoreAllMocks());

/** Runs a command line in this process. */
const run = async (...args: readonly string[]) => {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => stdout.push(String(text)) > 0);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => stderr.push(String(text)) > 0);
  const status = await main(args);
  vi.restoreAllMocks();
  return { status, stdout: stdout.join(""), stderr: stderr.join("") };
};
/** What a command requires, so that nothing else is wrong. */
const required: Readonly<Record<string, readonly string[]>> = {
  run: ["--provider=mock"],
  "describe deployment": ["a"],
  "describe set": ["a"],
  "describe class": ["a"],
  "describe machine": ["a"],
  why: ["machine/a"],
  replay: ["/no-such-snapshot"],
  adopt: ["node", "--deployment=pool"],
  restore: [exported, "--dry-run"],
  drain: ["node", "--dry-run"],
  approve: ["--all"],
  plan: ["--scale=a=1"],
  validate: ["/no-such-manifest"],
  "driver digest": ["mock"],
  completion: ["bash"],
  "driver serve": ["mock", "--listen=unix:///none"],
};
const lineOf = (name: string): readonly string[] => [...name.split(" "), ...(required[name] ?? [])];

/** Whether a command line is one that a command would act on; it does not act. */
const parses = async (words: readonly string[]): Promise<boolean> => {
  const program = createProgram(() => undefined, words);
  let acted = 0;
  const disarm = (command: Command): void => {
    for (const inner of command.commands) disarm(inner);
    if (command.commands.length === 0 || command.name() === "crds") command.action(() => void (acted += 1));
  };
  disarm(program);
  await program.parseAsync([...words], { from: "user" });
  return acted === 1;
};

describe("every command", () => {
  it.each(names)("prints its usage for --help, with status 0: %s", async (name) => {
    const { status, stdout, stderr } = await run(...name.split(" "), "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(String.raw`^Usage: millwright ${name}(\|\w+)? `));
    // A default once, and as people write it.
    expect(stdout.replaceAll(/\s+/g, " ")).not.toMatch(/preset:|default: \[|\(default: [^)]*\) \(default/);
  });

  it.each(names)("rejects an unknown flag, and one argument too many, with status 2: %s", async (name) => {
    const typo = await run(...lineOf(name), "--no-such-flag");
    expect([typo.status, typo.stdout]).toEqual([2, ""]);
    expect(typo.stderr).toContain("unknown option '--no-such-flag'");
    // Any number of classes or files may be named.
    if (name === "doctor" || name === "validate") return;
    const more = name === "drift" || name === "approve" ? ["deployment", "a", "b"] : ["more"];
    const many = await run(...lineOf(name), ...more);
    expect([many.status, many.stdout]).toEqual([2, ""]);
  });

  it.each(["", "describe", "driver", ...names])(
    "has examples in its help, and each parses: millwright %s",
    async (name) => {
      const words = name === "" ? [] : name.split(" ");
      const { stdout } = await run(...words, "--help");
      const [, text = ""] = stdout.split("\nExamples:\n");
      const lines = text.split("\n").filter((line) => line !== "");
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) {
        const [, words = ""] = /\bmillwright ([^|)]+)/.exec(line) ?? [];
        expect(words.startsWith(name), line).toBe(true);
        expect(await parses(words.trim().split(" ")), line).toBe(true);
      }
    },
  );

  it.each(Object.keys(required).filter((name) => !["plan", "approve", "why"].includes(name)))(
    "ends with status 2 where something required is missing: %s",
    async (name) => {
      const { status, stdout } = await run(...name.split(" "));
      // Whether --dry-run is there decides what drain does.
      expect([status, stdout]).toEqual([2, ""]);
    },
  );

  it.each([
    [["dve"], 2],
    [["describe"], 2],
    [["why", "machin/a"], 2],
    [["why", "machine/"], 2],
    [["why", "machine/a/b"], 2],
    [["describe", "machine", "a", "--state=x", "--watch"], 2],
    [["describe", "machin", "a"], 2],
    [["crds", "dif"], 2],
    [["driver", "server", "mock"], 2],
    [["approve", "deploymnt", "a"], 2],
    [["plan", "--delete=machin/a"], 2],
    [["plan", "--scale=a"], 2],
    [["plan", "--scale=machine/a=3"], 2],
    [["plan"], 2],
    [["approve"], 2],
    [["drift", "a", "--deployment=b"], 2],
    [["drain", "a"], 2],
  ])("rejects a typo with status 2: millwright %j", async (args, expected) => {
    const { status, stdout } = await run(...args);
    expect([status, stdout]).toEqual([expected, ""]);
  });
});

describe("a command that reads a cluster", () => {
  const reading = commands.filter(([, command]) => flagsOf(command).includes("--control-kubeconfig"));

  it("is each of these, and all have the same flags for it", () => {
    expect(reading.map(([name]) => name).toSorted()).toEqual([
      "adopt",
      "approve",
      "crds apply",
      "crds diff",
      "describe class",
      "describe deployment",
      "describe machine",
      "describe set",
      "doctor",
      "drain",
      "drift",
      "export",
      "plan",
      "restore",
      "run",
      "snapshot",
      "top",
      "uninstall",
      "why",
    ]);
    const shared = ["--control-kubeconfig", "--kubeconfig", "--context"];
    for (const [name, command] of reading)
      expect([name, ...flagsOf(command)]).toEqual(expect.arrayContaining([name, ...shared]));
  });

  it.each(["-n", "-o", "-A"])("has one meaning of %s, and no other name for it", (short) => {
    const long = { "-n": "--namespace", "-o": "--output", "-A": "--all-namespaces" }[short];
    for (const [name, command] of commands)
      for (const option of command.options)
        expect([name, option.short === short], option.flags).toEqual([name, option.long === long]);
    const withoutFormat = commands
      .filter(([, command]) => !flagsOf(command).includes("--output"))
      .map(([name]) => name);
    expect(withoutFormat).toEqual([
      "dev",
      "run",
      "top",
      "snapshot",
      "driver digest",
      "driver serve",
      "completion",
      "version",
    ]);
    const ofNamespace = reading
      .filter(([, command]) => !flagsOf(command).includes("--namespace"))
      .map(([name]) => name);
    expect(ofNamespace).toEqual(["crds diff", "crds apply"]);
  });

  // What `top` prints without a terminal: test/system/why-namespace.test.ts.
  const withoutTerminal = reading.map(([name]) => name).filter((name) => name !== "top");
  const once = withoutTerminal.filter((name) => name !== "run");
  it.each(once)("takes the cluster from --control-kubeconfig, --kubeconfig and --context: %s", async (name) => {
    const context = await run(...lineOf(name), "--kubeconfig", kubeconfig, "--context", "no-such-context");
    expect([
      context.status,
      context.stdout.includes("no-such-context") || context.stderr.includes("no-such-context"),
    ]).toEqual([1, true]);
    const both = await run(...lineOf(name), "--kubeconfig", kubeconfig, "--control-kubeconfig", kubeconfig);
    expect(both.status).toBe(2);
    const outputs = [];
    for (const flag of ["--kubeconfig", "--control-kubeconfig"])
      outputs.push(await run(...lineOf(name), flag, kubeconfig));
    const [first, second] = outputs.map(({ status, stdout, stderr }) => ({
      status,
      text: `${stdout}${stderr}`.replaceAll(/\d+/g, ""),
    }));
    expect(first).toEqual(second);
  });

  it.each([
    ["describe", "machine", "no-such"],
    ["describe", "deployment", "no-such"],
    ["describe", "set", "no-such"],
    ["describe", "class", "no-such"],
    ["why", "machine/no-such"],
    ["why", "md/no-such"],
    ["why", "set/no-such"],
    ["why", "mcc/no-such"],
    ["why", "node/no-such"],
    ["drain", "no-such", "--dry-run"],
    ["drift", "no-such"],
    ["drift", "--deployment=no-such"],
    ["doctor", "no-such"],
    ["approve", "deployment", "no-such"],
    ["plan", "--scale=no-such=3"],
    ["plan", "--delete=no-such"],
    ["plan", "--delete=machineset/no-such"],
  ])("ends with status 1 for a name that does not exist: millwright %s %s %s", async (...args) => {
    const { status, stdout, stderr } = await run(
      ...args.filter((arg) => arg !== undefined),
      "--kubeconfig",
      kubeconfig,
    );
    expect(status, stdout).toBe(1);
    expect(`${stdout}${stderr}`).toContain("no-such");
  });

  describe("and takes -A", () => {
    const rejected = [
      "crds apply",
      "crds diff",
      "describe class",
      "describe deployment",
      "describe machine",
      "describe set",
      "run",
    ];
    const covering = once.filter((name) => !rejected.includes(name));
    /** Command lines that are about no single object. */
    const ofAll: Readonly<Record<string, readonly string[]>> = {
      plan: ["plan", "--filename=DEPLOYMENTS"],
      drift: ["drift"],
      doctor: ["doctor"],
      uninstall: ["uninstall"],
      approve: ["approve", "--all"],
    };

    it.each(rejected)("rejects it with the reason, with status 2: %s", async (name) => {
      const { status, stdout, stderr } = await run(...lineOf(name), "-A", "--kubeconfig", kubeconfig);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^error: --all-namespaces: [A-Za-z]/);
    });

    it.each(covering)("rejects it together with -n: %s", async (name) => {
      const { status } = await run(...lineOf(name), "-A", "-n", "a", "--kubeconfig", kubeconfig);
      expect(status).toBe(2);
    });

    it.each([
      ["drift", "a"],
      ["drift", "--deployment=a"],
      ["doctor", "a"],
      ["approve", "deployment", "a"],
      ["plan", "--scale=a=1"],
      ["plan", "--delete=a"],
    ])("rejects it for one object: millwright %s %s %s", async (...args) => {
      const line = args.filter((arg) => arg !== undefined);
      const { status, stderr } = await run(...line, "-A", "--kubeconfig", kubeconfig);
      expect(status).toBe(2);
      expect(stderr).toContain("--all-namespaces: ");
    });

    it("covers no namespace where none has objects", async () => {
      for (const name of ["drift", "doctor", "uninstall"])
        expect(await run(name, "-A", "--kubeconfig", kubeconfig, "-o", "json")).toMatchObject({
          status: 0,
          stdout: "[]\n",
        });
    });

    describe("where two namespaces have machines", () => {
      const teams = ["team-a", "team-b"];
      let file: string;
      const deploymentIn = (namespace: string) => ({
        apiVersion: machineApiVersion,
        kind: "MachineDeployment",
        metadata: { name: "pool", namespace },
        spec: {
          replicas: 2,
          selector: { matchLabels: { name: "pool" } },
          template: {
            metadata: { labels: { name: "pool" } },
            spec: { class: { kind: "MachineClass", name: "small" } },
          },
        },
      });
      beforeAll(async () => {
        file = join(folder, "deployments.json");
        await writeFile(file, JSON.stringify({ kind: "List", apiVersion: "v1", items: teams.map(deploymentIn) }));
        const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), {});
        for (const namespace of teams) {
          await api.create(namespaceResource, { metadata: { name: namespace } });
          const metadata = { name: "small", namespace };
          await api.create(machineClassResource, { metadata, provider: "mock", providerSpec: {} });
          await api.create(machineResource, {
            metadata: { name: "m", namespace, labels: namespace === "team-b" ? { node: "n" } : {} },
            spec: { class: { kind: "MachineClass", name: "small" }, providerID: `mock:///${namespace}/vm` },
          });
        }
        await api.create(nodeResource, { metadata: { name: "n" } });
        await api.close();
      });

      it.each(Object.entries(ofAll))("reports on both, as a list and as text: %s", async (_, args) => {
        const line = [...args.map((arg) => arg.replace("DEPLOYMENTS", file)), "-A", "--kubeconfig", kubeconfig];
        const json = await run(...line, "-o", "json");
        const reports = JSON.parse(json.stdout) as readonly { readonly namespace: string }[];
        expect(reports.map(({ namespace }) => namespace)).toEqual(teams);
        const { stdout } = await run(...line);
        for (const team of teams) expect(stdout).toContain(`Namespace ${team}:\n\n`);
      });

      it("finds the machine of a node in any namespace", async () => {
        const line = ["drain", "n", "--dry-run", "--kubeconfig", kubeconfig, "-o", "json"];
        const machineOf = async (...more: readonly string[]): Promise<unknown> =>
          (JSON.parse((await run(...line, ...more)).stdout) as { readonly machine?: unknown }).machine;
        expect(await machineOf()).toBeUndefined();
        expect(await machineOf("-A")).toMatchObject({ namespace: "team-b", name: "m" });
      });
    });
  });

  describe("with a kubeconfig of two clusters", () => {
    let other: ApiServer;
    let both: string;
    beforeAll(async () => {
      other = createApiServer();
      const { url } = await other.listen();
      both = join(folder, "both");
      const current = await readFile(kubeconfig, "utf8");
      const config = JSON.parse(JSON.stringify(parse(current))) as Record<string, readonly object[]>;
      await writeFile(
        both,
        stringify({
          ...config,
          clusters: [...(config["clusters"] ?? []), { name: "other", cluster: { server: url } }],
          contexts: [
            ...(config["contexts"] ?? []),
            { name: "elsewhere", context: { cluster: "other", user: "millwright", namespace: "team-z" } },
          ],
        }),
      );
      const api = createApiClient({ server: url }, {});
      for (const crd of crds())
        await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
      await api.create(nodeResource, { metadata: { name: "node" } });
      await api.close();
    });
    afterAll(() => other.close());

    it.each(once)("reads the cluster and the namespace of --context, and no other: %s", async (name) => {
      const [before, beforeOther] = [server.requests.length, other.requests.length];
      await run(...lineOf(name), "--kubeconfig", both, "--context", "elsewhere");
      expect(server.requests.length).toBe(before);
      const requests = other.requests.slice(beforeOther);
      expect(requests.length).toBeGreaterThan(0);
      const namespaces = requests.map(({ namespace }) => namespace).filter((each) => each !== "");
      const isOfCluster = name.startsWith("crds");
      expect(new Set(namespaces.filter((each) => each !== "kube-system"))).toEqual(
        new Set(isOfCluster ? [] : ["team-z"]),
      );
      await run(...lineOf(name), "--kubeconfig", both);
      expect(server.requests.length).toBeGreaterThan(before);
      expect(other.requests.length).toBe(beforeOther + requests.length);
    });
  });

  it.each(withoutTerminal)("rejects a context of a service account: %s", async (name) => {
    const { status, stdout, stderr } = await run(
      ...lineOf(name),
      "--control-kubeconfig=inClusterConfig",
      "--context=other",
    );
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain('--context other: "inClusterConfig" has no contexts');
  });
});

function flagsOf(command: Command): readonly (string | null | undefined)[] {
  return command.options.map(({ long }) => long);
}
