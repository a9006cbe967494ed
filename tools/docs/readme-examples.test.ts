import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documentPages, root } from "./document-pages.ts";

const run = promisify(execFile);

/**
 * Readers copy what imports something; a block without imports is a part of one before it. Blocks that name their file are those of a tutorial, whose own test follows it.
 */
const examplesOf = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^```ts\n([\s\S]*?)^```/gm)]
    .map(([, code = ""]) => code)
    .filter((code) => /^import /m.test(code) && !/^\/\/ (?:src|test)\//.test(code));

/** What the example of the README is called with; it goes through the contract as the runtime does. */
const drive = `
import { access, mkdir } from "node:fs/promises";
import { createVirtualClock } from "@millwright/core/testing";
import { Secret } from "@millwright/base";
import { hasMachineErrorCode, readProviderSpec } from "@millwright/core";
import driver from "./README.md-1.ts";

const folder = process.argv[2];
await mkdir(folder);
const read = await readProviderSpec(driver, { providerSpec: { folder } });
if (!read.ok) throw new Error("the spec is refused");
const refused = await readProviderSpec(driver, { providerSpec: { folder, typo: true } });
const machine = { name: "m", namespace: "n", uid: "8f14e45f" };
const request = { machine, machineClass: { name: "c", spec: read.spec }, secret: {} };
const context = { signal: new AbortController().signal, clock: createVirtualClock(), log() {} };
const isThere = () => access(folder + "/8f14e45f").then(() => true, () => false);
const status = () =>
  driver.getMachineStatus(request, context).then(
    ({ providerId }) => providerId,
    (error) => (hasMachineErrorCode(error, "NotFound") ? "NotFound" : error),
  );
const seen = [refused.ok, await status(), await isThere()];
const create = { ...request, idempotencyToken: machine.uid, userData: Secret.of("#!/bin/sh") };
for (let times = 0; times < 2; times++) seen.push((await driver.createMachine(create, context)).nodeName);
seen.push(await status(), await isThere());
for (let times = 0; times < 2; times++) seen.push(await driver.deleteMachine(request, context));
seen.push(await status(), await isThere());
console.log(JSON.stringify([driver.name, driver.capabilities, seen]));
`;

describe("examples in the documents", () => {
  let folder: string;
  const examples: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-examples-"));
    await symlink(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    for (const { file, text } of await documentPages()) {
      for (const [index, code] of examplesOf(text).entries()) {
        const name = `${file.replaceAll("/", "-")}-${index + 1}.ts`;
        await writeFile(join(folder, name), code);
        examples.push(name);
      }
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("compile, each by itself, under the settings of this repository", async () => {
    expect(examples).toContain("README.md-1.ts");
    const config = {
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: {
        noEmit: true,
        sourceMap: false,
        preserveSymlinks: false,
        noUnusedLocals: false,
        declaration: false,
      },
      include: ["*.ts"],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    const output = await run(join(root, "node_modules/.bin/tsc"), ["-p", folder], { cwd: folder }).then(
      () => "",
      (error: { readonly stdout?: string; readonly message: string }) => error.stdout || error.message,
    );
    // Sources that the examples import are elsewhere, and `npm run types` is the judge of those.
    const problems = output.split("\n").filter((line) => line !== "" && !line.startsWith(".."));
    expect(problems).toEqual([]);
  }, 300_000);

  it("hold a driver that makes, finds and deletes a machine, and may be asked twice", async () => {
    await mkdir(join(folder, "run"), { recursive: true });
    await writeFile(join(folder, "drive.mjs"), drive);
    const { stdout } = await run(
      process.execPath,
      ["--conditions=@millwright/source", "drive.mjs", join(folder, "run", "vms")],
      { cwd: folder },
    );
    expect(JSON.parse(stdout)).toEqual([
      "folder",
      {
        listMachines: false,
        initializeMachine: false,
        volumeIds: false,
        drift: false,
        nodeTemplate: false,
        classChecks: false,
      },
      [false, "NotFound", false, "m", "m", "folder:///8f14e45f", true, {}, {}, "NotFound", false],
    ]);
  }, 30_000);
});
