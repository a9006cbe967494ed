import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isConfigError } from "@millwright/base";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { describeDriverFiles } from "./driver-files.ts";
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
  "throws.mjs": "throw new Error('no such device\\nsecond line');",
  "needs.mjs": 'import "./lacking.mjs";',
  "needs-package.mjs": 'import "lacking";',
  "throws-text.mjs": "throw 'just a text';",
  "syntax.mjs": "export default {",
  "node_modules/outside-driver/package.json":
    '{"name":"outside-driver","version":"1.2.3","type":"module","main":"index.js"}',
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
    expect((await loadDriver("./good.mjs", { folder })).name).toBe("good");
    expect((await loadDriver(join(folder, "good.mjs"))).capabilities.listMachines).toBe(false);
  });

  it("loads a package that is installed where the user is, not where we are", async () => {
    expect((await loadDriver("outside-driver", { folder })).name).toBe("good");
  });

  it("loads the version that is demanded, and files with the digest that is demanded", async () => {
    expect((await loadDriver("outside-driver@1.2.3", { folder })).name).toBe("good");
    const { digest } = await describeDriverFiles(join(folder, "good.mjs"));
    expect((await loadDriver("./good.mjs", { folder, digest })).name).toBe("good");
    const wrong = loadDriver("./part.mjs", { folder, digest });
    await expect(wrong).rejects.toThrow(
      /^--provider \.\/part\.mjs: its files have changed: the digest is sha256:[0-9a-f]{64}, expected sha256:/,
    );
  });

  it.each([
    ["AWS", "aws"],
    ["gcp", "gcp"],
    ["Azure", "azure"],
    ["MOCK", "mock"],
  ])("knows our own drivers by short names in any case, as classes spell them: %s", async (name, expected) => {
    expect((await loadDriver(name, { folder })).name).toBe(expected);
  });

  test.each([
    ["./missing.mjs", /: there is no file [^ ]*missing\.mjs$/],
    ["./needs.mjs", /cannot be loaded: Cannot find module '[^ ]*lacking\.mjs' imported from [^ ]*needs\.mjs$/],
    [
      "./needs-package.mjs",
      /Cannot find package 'lacking' imported from [^ ]*needs-package\.mjs: npm install lacking$/,
    ],
    [
      "no-such-driver",
      /the package is not installed: npm install no-such-driver; expected mock, aws, gcp, azure, qemu, an npm/,
    ],
    ["good.mjs", /not installed: .*; for the file \.\/good\.mjs write --provider \.\/good\.mjs/],
    ["./throws.mjs", /cannot be loaded: no such device$/],
    ["./throws-text.mjs", /cannot be loaded: just a text$/],
    ["./syntax.mjs", /cannot be loaded: /],
    [
      "./later.mjs",
      /driver "good" implements driver contract 2; this version of Millwright supports contract 1: update Millwright$/,
    ],
    ["./part.mjs", /driver "good": method "deleteMachine" is missing$/],
    ["node:fs", /cannot be loaded: it is a module of Node; expected mock/],
    ["", /: the name is empty; expected mock/],
    ["constructor", /not installed: npm install constructor; expected mock, aws/],
    ["Aws-driver", /not installed: npm install Aws-driver/],
    ["awss", /not installed: npm install awss; did you mean aws\?$/],
    ["outside-driver@2.0.0", /version 1\.2\.3 is installed: npm install outside-driver@2\.0\.0$/],
  ])("reports in one line what is wrong with %j", async (name, expected) => {
    const error: unknown = await loadDriver(name, { folder }).catch((thrown: unknown) => thrown);
    expect(isConfigError(error)).toBe(true);
    const message = error instanceof Error ? error.message : "";
    expect(message).toMatch(expected);
    expect(message.startsWith(`--provider ${name}: `)).toBe(true);
    expect(message).not.toContain("\n");
  });
});
