import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClassResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

let installation: Installation;
let folder: string;
beforeAll(async () => {
  installation = await startInstallation();
  folder = await mkdtemp(join(tmpdir(), "millwright-misspelt-"));
  await installation.api.create(machineClassResource, machineClass("small"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await installation.close();
});

const run = async (...args: readonly string[]): Promise<string> => {
  const command = startMillwright([...args, "--kubeconfig", installation.kubeconfig], { NO_COLOR: "1" });
  await command.ended;
  return command.output().replaceAll(/\s+/g, " ");
};

it("doctor names the misspelt key of a Secret, and keeps the example of a message that has the value of a key", async () => {
  const secret = { namespace: "default", name: "cloud" };
  const write = (data: object): Promise<unknown> =>
    installation.api.patch(secretResource, secret, { data }, { kind: "merge" });
  await write({ endpoint: null, endpont: btoa("http://127.0.0.1:7070") });
  expect(await run("doctor", "small")).toMatch(/FAILED Secret: secret\.endpoint: .*; the Secret has key "endpont"/);
  await write({ endpoint: btoa("127.0.0.1:7070"), endpont: null });
  expect(await run("doctor", "small")).toContain("such as http://127.0.0.1:7070");
});

it("plan names a class that does not exist first, and the one that was meant", async () => {
  const file = join(folder, "pool.json");
  await writeFile(file, JSON.stringify(machineDeployment("pool", "smal", 2)));
  expect(await run("plan", "-f", file)).toMatch(
    /^MachineDeployment pool: would not complete by itself Waits for: .*MachineClass "smal" of MachineDeployment "pool" does not exist \("small" does\)/,
  );
});
