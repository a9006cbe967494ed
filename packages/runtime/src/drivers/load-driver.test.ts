import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isConfigError } from "@millwright/core";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { loadDriver } from "./load-driver.ts";

const good = `
const schema = { "~standard": { version: 1, vendor: "x", validate: (value) => ({ value }) } };
const nothing = async () => ({});
const driver = { name: "good", spec: schema, createMachine: nothing, deleteMachine: nothing, getMachineStatus: nothing };
`;
const files: Readonly<Record<string, string>> = {
  "good.mjs": `${good} export default driver;`,
  "later.mjs": `${good} export default { ...driver, contractVersion: 2 };`,
  "part.mjs": `${good} const { deleteMachine, ...rest } = driver; export default rest;`,
  "named.mjs": `${good} export { driver };`,
  "number.mjs": "export default 5;",
  "throws.mjs": "throw new Error('no such device\\nsecond line');",
  "needs.mjs": 'import "./lacking.mjs";',
  "throws-text.mjs": "throw 'just a text';",
  "syntax.mjs": "export default {",
  "node_modules/outside-driver/package.json": '{"name":"outside-driver","type":"module","main":"index.js"}',
  "node_modules/outside-driver/index.js": `${good} export default driver;`,
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "drivers-"));
  await mkdir(join(folder, "node_modules/outside-driver"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true }));

describe("loadDriver", () => {
  it("loads a file by a path that is relative to the folder, and by an absolute one", async () => {
    expect((await loadDriver("./good.mjs", folder)).name).toBe("good");
    expect((await loadDriver(join(folder, "good.mjs"))).capabilities.listMachines).toBe(false);
  });

  it("loads a package that is installed where the user is, not where we are", async () => {
    expect((await loadDriver("outside-driver", folder)).name).toBe("good");
  });

  it.each([
    ["AWS", "aws"],
    ["gcp", "gcp"],
    ["Azure", "azure"],
    ["MOCK", "mock"],
  ])("knows our own drivers by short names in any case, as classes spell them: %s", async (name, expected) => {
    expect((await loadDriver(name, folder)).name).toBe(expected);
  });

  test.each([
    ["./missing.mjs", /cannot be loaded: Cannot find module '[^ ]*missing\.mjs'; expected mock/],
    [
      "./needs.mjs",
      /cannot be loaded: Cannot find module '[^ ]*lacking\.mjs' imported from [^ ]*needs\.mjs; expected mock/,
    ],
    ["no-such-driver", /cannot be loaded: Cannot find (module|package) 'no-such-driver'/],
    [
      "./throws.mjs",
      /cannot be loaded: no such device; expected mock, aws, gcp, azure, qemu, or an npm package or file \(\.\/driver\.ts\) that exports a driver by default$/,
    ],
    ["./throws-text.mjs", /cannot be loaded: just a text; expected/],
    ["./syntax.mjs", /cannot be loaded: /],
    ["./named.mjs", /a driver must be an object created by defineDriver, not undefined$/],
    ["./number.mjs", /a driver must be an object created by defineDriver, not number$/],
    [
      "./later.mjs",
      /driver "good" implements driver contract 2; this version of Millwright supports contract 1: update Millwright$/,
    ],
    ["./part.mjs", /driver "good".*deleteMachine/],
    ["node:fs", /the name of a driver must be/],
    ["", /cannot be loaded/],
    ["constructor", /cannot be loaded: .*; expected mock, aws/],
    ["awss", /cannot be loaded: .*'awss'.*; expected mock, aws, gcp, azure, qemu, or/],
  ])("reports in one line what is wrong with %j", async (name, expected) => {
    const error: unknown = await loadDriver(name, folder).catch((thrown: unknown) => thrown);
    expect(isConfigError(error)).toBe(true);
    const message = error instanceof Error ? error.message : "";
    expect(message).toMatch(expected);
    expect(message.startsWith(`--provider ${name}: `)).toBe(true);
    expect(message).not.toContain("\n");
  });
});
