import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crds } from "@millwright/core";
import { type ApiServer, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import { createApiClient, customResourceDefinitionResource, loadKubeConfig } from "@millwright/kube";
import type { Command } from "commander";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
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

let folder: string;
let server: ApiServer;
let kubeconfig: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-commands-"));
  server = createApiServer();
  const { url } = await server.listen();
  kubeconfig = join(folder, "kubeconfig");
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
  drain: ["node", "--dry-run"],
  approve: ["--all"],
  plan: ["--scale=a=1"],
  "driver digest": ["mock"],
  "driver serve": ["mock", "--listen=unix:///none"],
};
const lineOf = (name: string): readonly string[] => [...name.split(" "), ...(required[name] ?? [])];

describe("every command", () => {
  it.each(names)("prints its usage for --help, with status 0: %s", async (name) => {
    const { status, stdout, stderr } = await run(...name.split(" "), "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Usage: millwright ${name} `));
  });

  it.each(names)("rejects an unknown flag, and one argument too many, with status 2: %s", async (name) => {
    const typo = await run(...lineOf(name), "--no-such-flag");
    expect([typo.status, typo.stdout]).toEqual([2, ""]);
    expect(typo.stderr).toContain("unknown option '--no-such-flag'");
    // Any number of classes may be named.
    if (name === "doctor") return;
    const more = name === "drift" || name === "approve" ? ["deployment", "a", "b"] : ["more"];
    const many = await run(...lineOf(name), ...more);
    expect([many.status, many.stdout]).toEqual([2, ""]);
  });

  it.each(Object.keys(required).filter((name) => !["plan", "approve"].includes(name)))(
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
      "plan",
      "run",
      "uninstall",
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
    expect(withoutFormat).toEqual(["dev", "run", "driver digest", "driver serve", "version"]);
    const ofNamespace = reading
      .filter(([, command]) => !flagsOf(command).includes("--namespace"))
      .map(([name]) => name);
    expect(ofNamespace).toEqual(["crds diff", "crds apply"]);
  });

  const once = reading.map(([name]) => name).filter((name) => name !== "run");
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

  it("covers all namespaces with -A", async () => {
    expect(await run("drift", "-A", "--kubeconfig", kubeconfig, "-o", "json")).toMatchObject({
      status: 0,
      stdout: "[]\n",
    });
    expect(await run("doctor", "-A", "--kubeconfig", kubeconfig, "-o", "json")).toMatchObject({
      status: 0,
      stdout: "[]\n",
    });
    expect((await run("drift", "a", "-A", "--kubeconfig", kubeconfig)).status).toBe(2);
    expect((await run("drift", "-A", "-n", "a", "--kubeconfig", kubeconfig)).status).toBe(2);
  });
});

function flagsOf(command: Command): readonly (string | null | undefined)[] {
  return command.options.map(({ long }) => long);
}
