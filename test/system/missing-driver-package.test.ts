import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { machineClassResource, machineResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Installation, machineClass, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

/** Node finds nothing of the driver: as where its package is not installed. */
const hook = `
import { registerHooks } from "node:module";
registerHooks({
  resolve(name, context, next) {
    if (!name.startsWith("@millwright/provider-aws")) return next(name, context);
    throw Object.assign(new Error("Cannot find package '@millwright/provider-aws'"), { code: "ERR_MODULE_NOT_FOUND" });
  },
});
`;
const missing = "--provider aws: the package is not installed: npm ci in ";

let folder: string;
let installation: Installation;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "missing-driver-"));
  await writeFile(join(folder, "hook.mjs"), hook);
  installation = await startInstallation();
  const { api } = installation;
  await api.create(machineClassResource, { ...machineClass("small"), provider: "AWS" });
  await api.create(machineResource, {
    apiVersion: "machine.sapcloud.io/v1alpha1",
    kind: "Machine",
    metadata: { name: "m", namespace: "default" },
    spec: { class: { kind: "MachineClass", name: "small" }, providerID: "aws:///eu-west-1/i-1" },
  });
});
afterAll(async () => {
  await installation.close();
  await rm(folder, { recursive: true, force: true });
});

const run = async (args: readonly string[]) => {
  const imports = `--import=${pathToFileURL(join(folder, "hook.mjs")).href}`;
  const command = startMillwright(args, { NODE_OPTIONS: imports, KUBECONFIG: installation.kubeconfig });
  return { status: await command.ended, output: command.output() };
};

it.each([
  ["run", ["run", "--provider", "aws"]],
  ["dev", ["dev", "--provider", "aws"]],
  ["drift", ["drift", "--provider", "aws"]],
  ["doctor", ["doctor", "--provider", "aws"]],
  ["driver serve", ["driver", "serve", "aws", "--listen", "unix:///tmp/none.sock"]],
  ["driver digest", ["driver", "digest", "aws"]],
])("%s names the package of a driver that is not installed, in one line", async (_, args) => {
  const { status, output } = await run(args);
  expect(status, output).toBe(1);
  expect(output.trimEnd().split("\n").at(-1)).toContain(missing);
  expect(output).not.toContain("did you mean");
  expect(output).not.toMatch(/^ {4}at /m);
});

it("conformance names the package of a driver that is not installed, in one line", async () => {
  const { status, output } = await run(["conformance", "--provider", "aws"]);
  expect({ status, output }).toEqual({ status: 2, output: expect.stringMatching(/^millwright: .*\n$/) });
  expect(output).toContain(missing);
});

it.each([["drift"], ["doctor"]])("%s names the package of the driver of a class, with status 1", async (command) => {
  const { status, output } = await run([command]);
  expect(status, output).toBe(1);
  expect(output.replaceAll(/\s+/g, " ")).toContain(missing);
});
