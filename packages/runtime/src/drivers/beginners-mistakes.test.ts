import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createVirtualClock } from "@millwright/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aCall, host, notFound, throwing, unaborted, wild } from "../testing/hosted-driver.ts";
import { loadDriver } from "./load-driver.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "beginners-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A module whose driver has these parts in place of right ones. */
const driverWith = (parts: string): string => `
const vm = async () => ({ providerId: "x:///1", nodeName: "n" });
const spec = { "~standard": { version: 1, vendor: "x", validate: (value) => ({ value }) } };
const right = { name: "x", spec, createMachine: vm, deleteMachine: async () => ({}), getMachineStatus: vm };
${parts}`;

let count = 0;
/** What loading a module fails with. */
async function loadFailure(source: string): Promise<string> {
  const file = join(folder, `driver-${count++}.mjs`);
  await writeFile(file, source);
  const error: unknown = await loadDriver(file).catch((thrown: unknown) => thrown);
  const message = error instanceof Error ? error.message : "no error";
  expect(message.startsWith(`--provider ${file}: `)).toBe(true);
  expect(message).not.toContain("\n");
  return message.slice(`--provider ${file}: `.length);
}

const withoutCreate = "const { createMachine, ...rest } = right;";

describe("a beginner's mistake in a module", () => {
  it.each<[string, string, RegExp]>([
    [
      "a misspelt method",
      driverWith(`${withoutCreate} export default { ...rest, createMachines: vm };`),
      /^driver "x": method "createMachine" is missing; the driver has "createMachines"$/,
    ],
    [
      "a misspelt optional method",
      driverWith("export default { ...right, listMachine: vm };"),
      /^driver "x": the contract has no method "listMachine"; did you mean "listMachines"\?$/,
    ],
    [
      "no default export",
      driverWith("export { right };"),
      /^it has no default export: the driver is its export "right"; write/,
    ],
    ["no export", driverWith(""), /^it has no default export: write export default defineDriver\(\{ … \}\)$/],
    ["a number", "export default 5;", /^a driver must be an object created by defineDriver, not number$/],
    [
      "a class that is not instantiated",
      driverWith("export default class Cloud { createMachine() {} }"),
      /^the default export is a class: write export default defineDriver\(new Cloud\(\)\)$/,
    ],
    [
      "a function",
      driverWith("export default () => right;"),
      /^the default export is a function: write export default/,
    ],
    ["a promise", driverWith("export default Promise.resolve(right);"), /is a promise: write export default await …$/],
    [
      "a JSON Schema as its spec",
      driverWith('export default { ...right, spec: { type: "object", properties: {} } };'),
      /^driver "x": "spec" must be a Standard Schema \(such as a zod object\) that reads providerSpec, not a JSON Schema$/,
    ],
    [
      "a function as its spec",
      driverWith("export default { ...right, spec: () => true };"),
      /"spec" must be a Standard Schema/,
    ],
    [
      "a name that no class can have",
      driverWith('export default { ...right, name: "my cloud" };'),
      /^the name of a driver must be 1 to 63 letters, .*, not "my cloud"$/,
    ],
    [
      "a later contract",
      driverWith("export default { ...right, contractVersion: { min: 2, max: 3 } };"),
      /^driver "x" implements driver contract 2 to 3; this version of Millwright supports contract 1: update Millwright$/,
    ],
  ])("is explained in one line: %s", async (_what, source, message) => {
    expect(await loadFailure(source)).toMatch(message);
  });

  // The test runner loads CommonJS modules differently, and gives ES modules a require.
  it.each<[string, string, string, RegExp]>([
    [
      "a CommonJS module of a compiler",
      "cjs",
      "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = {};",
      /: it is a CommonJS module, .*: set "type": "module" in its package\.json and compile to ES modules\n$/,
    ],
    [
      "require in an ES module",
      "mjs",
      'const fs = require("node:fs"); export default 1;',
      /: cannot be loaded: require is not defined in ES module scope, .*\n$/,
    ],
  ])("is explained in one line, by Node itself: %s", async (_what, extension, source, message) => {
    const file = join(folder, `plain.${extension}`);
    await writeFile(file, source);
    const loader = JSON.stringify(new URL("load-driver.ts", import.meta.url).href);
    const script = `const { loadDriver } = await import(${loader});
      await loadDriver(${JSON.stringify(file)}).catch((error) => console.log(error.message));`;
    const args = ["--conditions=@millwright/source", "--input-type=module", "-e", script];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(message);
    expect(stdout.split("\n")).toHaveLength(2);
  });

  it("is accepted where it does no harm: a CommonJS module that exports the driver itself", async () => {
    const file = join(folder, "driver.cjs");
    await writeFile(file, driverWith("module.exports = right;"));
    expect((await loadDriver(file)).name).toBe("x");
  });

  it("does not end the process without a message: a promise at the top level that never settles", async () => {
    const file = join(folder, "never.mjs");
    await writeFile(file, "await new Promise(() => undefined); export default 1;");
    const clock = createVirtualClock();
    const loading = loadDriver(file, { clock, timeoutMs: 5_000 }).catch((thrown: unknown) => thrown);
    await expect.poll(() => clock.pending()).toBe(1);
    await clock.advance(5_000);
    expect(String(await loading)).toMatch(
      /never\.mjs: cannot be loaded: its module did not load within 5 s: a promise at its top level never settles$/,
    );
  });
});

/** What the first creation fails with. */
async function creationFailure(createMachine: () => unknown): Promise<string> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the mistake is its type
  const outcome = await host({ createMachine: createMachine as never, getMachineStatus: notFound }).ensureVm(
    aCall(),
    unaborted,
  );
  return outcome.ok ? "no failure" : `${outcome.error.code}: ${outcome.error.message}`;
}

describe("a beginner's mistake in a method", () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      "a missing return",
      wild(undefined),
      /^Internal: createMachine of the driver answered nothing; expected \{ providerId, nodeName \}$/,
    ],
    [
      "a text",
      wild("i-1"),
      /^Internal: createMachine of the driver answered a string; expected \{ providerId, nodeName \}$/,
    ],
    ["a thrown text", throwing("quota"), /^Internal: threw a text, not a MachineError: quota$/],
    [
      "a thrown look-alike",
      throwing({ code: "NotFound", message: "no" }),
      /^Internal: threw an object, not a MachineError: NotFound: no$/,
    ],
    [
      "a provider id that is a number",
      wild({ providerId: 17, nodeName: "n" }),
      /^Internal: createMachine of the driver answered a providerId that is a number; expected a text such as "example:\/\/\/17"$/,
    ],
    [
      "another spelling of the provider id",
      wild({ providerID: "x", nodeName: "n" }),
      /without a providerId; it has "providerID"$/,
    ],
  ])("is explained in one line: %s", async (_what, createMachine, message) => {
    expect(await creationFailure(createMachine)).toMatch(message);
  });

  it("is accepted where it does no harm: a value instead of a promise", async () => {
    expect(await creationFailure(() => ({ providerId: "x:///1", nodeName: "n" }))).toBe("no failure");
  });

  it("is a failure after the deadline: a promise that never settles", async () => {
    const { ensureVm, clock } = host({
      createMachine: () => new Promise<never>(() => undefined),
      getMachineStatus: notFound,
    });
    const outcome = ensureVm(aCall(), unaborted);
    await clock.advance(300_000);
    expect(await outcome).toMatchObject({
      error: { code: "DeadlineExceeded", message: expect.stringContaining("createMachine of driver") },
    });
  });
});
