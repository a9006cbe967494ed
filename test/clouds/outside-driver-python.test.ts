import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { defineConformance, type FixtureSetup } from "@millwright/conformance";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { buildImage } from "../harness/containers/build-image.ts";
import { imageOf, inRoot } from "../harness/containers/image-store.ts";
import { startCloudInstallation } from "./cloud-installation.ts";
import type { CloudInstance } from "./cloud-controller-manager/cloud-instance.ts";
import { checkAtAddress, pythonDriver, pythonPackage, startOutsideDriver } from "./outside-driver.ts";

/** A VM as the driver writes it. */
interface FileVm {
  readonly owner: { readonly [tag: string]: string; readonly cluster: string; readonly name: string };
  readonly userData: string;
}

/** The VMs of a folder, with their ids. */
function vmsIn(folder: string): readonly (FileVm & { readonly id: string })[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.map((name) => {
    // The driver writes it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const vm = JSON.parse(readFileSync(join(folder, name), "utf8")) as FileVm;
    return { ...vm, id: name.slice(0, -".json".length) };
  });
}

const bootOf = ({ userData }: FileVm): Buffer => Buffer.from(userData, "base64");
const classOf = (size: string, cluster: string) => ({ providerSpec: { size, cluster } });

/** What the folder lacks. */
const lacks = {
  endpoint: "the cloud is a folder",
  credentials: "the cloud is a folder",
  classTags: "VMs are files",
  references: "the class names nothing that can be missing",
  quota: "the cloud is a folder",
  duplicateVms: "the name of the file follows from the machine",
  pages: "lists are not paginated",
  parts: "a VM is one file",
  dataVolumes: "there are no volumes",
  terminatingState: "a file exists, or it does not",
  terminationProtection: "VMs cannot be protected",
};

async function pythonFixture(): Promise<FixtureSetup> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-vms-"));
  const command = pythonDriver(folder);
  if (command === undefined) throw new Error("the driver was removed from the cache");
  const outside = await startOutsideDriver(command);
  const { driver, close } = await outside.connect();
  return {
    driver,
    machineClass: classOf("small", "a"),
    secret: {},
    otherClass: classOf("large", "a"),
    otherClusterClass: classOf("small", "b"),
    lacks,
    inventory: () =>
      vmsIn(folder).map((vm) => ({ id: vm.id, machineName: vm.owner.name, tags: vm.owner, userData: bootOf(vm) })),
    resources: () => readdirSync(folder),
    async close() {
      await close();
      await outside.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const instanceOf = ({ id, owner }: FileVm & { readonly id: string }): CloudInstance => ({
  nodeName: owner.name,
  systemUuid: id,
  isRunning: true,
  providerId: `folder:///${owner.cluster}/${id}`,
  zone: "a",
  region: "a",
  instanceType: "small",
  addresses: [],
});

describe.skipIf(pythonDriver("") === undefined)("a driver in Python", () => {
  defineConformance({ fixture: pythonFixture, level: "bronze", graceMs: 200_000, describe, it, afterAll });

  it("passes the tests of its package", async () => {
    const command = pythonDriver("");
    if (command === undefined) throw new Error("the driver was removed from the cache");
    const env = { ...process.env, ...command.env };
    const args = ["-m", "unittest", "discover", "-s", "tests"];
    const { stderr } = await promisify(execFile)(command.path, args, { cwd: pythonPackage, env });
    expect(stderr).toMatch(/Ran \d+ tests in .*\n\nOK\n$/);
  });

  it("reaches silver with a fixture of flags", async () => {
    const folder = mkdtempSync(join(tmpdir(), "millwright-vms-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const command = pythonDriver(folder);
    if (command === undefined) throw new Error("the driver was removed from the cache");
    const outside = await startOutsideDriver(command);
    onTestFinished(() => outside.close());
    const manifest = async (name: string, { providerSpec }: { readonly providerSpec: object }): Promise<string> => {
      const file = join(folder, name);
      await writeFile(file, JSON.stringify({ kind: "MachineClass", providerSpec }));
      return file;
    };
    const { code, output } = await checkAtAddress(outside.address, classOf("small", "a").providerSpec, {}, [
      `--other-class=${await manifest("large.yaml", classOf("large", "a"))}`,
      `--other-cluster-class=${await manifest("other.yaml", classOf("small", "b"))}`,
      `--inventory=${command.path} ${join(pythonPackage, "examples/list_vms.py")} ${folder}`,
      "--lacks",
      ...Object.entries(lacks).map(([property, reason]) => `${property}=${reason}`),
    ]);
    expect(code, output).toBe(0);
    expect(output).toMatch(/, 0 failed, 0 skipped, \d+ not applicable\nLevel: (silver|gold)\b/);
  });

  it("is checked by millwright conformance at its address", async () => {
    const folder = mkdtempSync(join(tmpdir(), "millwright-vms-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const command = pythonDriver(folder);
    if (command === undefined) throw new Error("the driver was removed from the cache");
    const outside = await startOutsideDriver(command);
    onTestFinished(() => outside.close());
    const { code, output } = await checkAtAddress(outside.address, { size: "small", cluster: "a" }, {});
    expect(code, output).toBe(0);
    expect(output).toMatch(/create\.repeat-returns-same-vm.*\n/);
    const wrong = await checkAtAddress(outside.address, { size: "enormous", cluster: "a" }, {});
    expect(wrong.code, wrong.output).toBe(2);
  });

  it("is started by the entry point of its image, after the commands that build it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "millwright-python-image-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const command = pythonDriver(folder);
    if (command === undefined) throw new Error("the driver was removed from the cache");
    // Python of the base image, with the dependencies of the package, so that the build needs no package index.
    const base = join(folder, "base");
    await cp(dirname(dirname(command.path)), base, { recursive: true, verbatimSymlinks: true });
    const { root, entrypoint } = await buildImage(pythonPackage, {
      folder,
      base: async (name) => (name === "docker.io/library/python:3.13-slim" ? imageOf(base) : undefined),
      // As in the image, `pip` is a module of that Python. The scripts of a copied environment name the former one.
      env: (stage) => ({ ...process.env, PATH: `${stage}/bin:${process.env["PATH"]}`, PIP_NO_BUILD_ISOLATION: "1" }),
      command: (text) => text.replace("pip install", "python -m pip install"),
    });
    const [python = "", ...words] = entrypoint;
    expect([python, ...words]).toEqual(["python", "-B", "/driver.py"]);
    const args = words.map((word) => inRoot(root, word));
    // Nothing of this repository: what was installed in the image is imported.
    await rm(join(root, "package"), { recursive: true });
    const outside = await startOutsideDriver({
      path: join(root, "bin", python),
      args: () => args,
      env: { TMPDIR: join(root, "tmp") },
    });
    onTestFinished(() => outside.close());
    const { code, output } = await checkAtAddress(outside.address, classOf("small", "a").providerSpec, {});
    expect(code, output).toBe(0);
    expect(readdirSync(join(root, "tmp/vms"))).toEqual([]);
  });

  it("runs machines under millwright run, also after it was killed, and deletes them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "millwright-vms-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const command = pythonDriver(folder);
    if (command === undefined) throw new Error("the driver was removed from the cache");
    const outside = await startOutsideDriver(command);
    onTestFinished(() => outside.close());
    const installation = await startCloudInstallation({
      provider: "folder",
      driver: outside.address,
      providerSpec: { size: "small", cluster: "a" },
      secret: { userData: "boot <<MACHINE_NAME>>" },
      env: {},
      instances: () => vmsIn(folder).map(instanceOf),
    });
    onTestFinished(() => installation.close());
    installation.run();
    await installation.deploy(3);
    await installation.untilRunning(3);
    await outside.restart();
    await installation.change({ replicas: 5 });
    await installation.untilRunning(5);
    const names = (await installation.machines()).map(({ metadata }) => metadata.name);
    expect(
      vmsIn(folder)
        .map((vm) => bootOf(vm).toString())
        .toSorted(),
    ).toEqual(names.map((name) => `boot ${name}`).toSorted());
    await installation.remove();
    await installation.untilGone();
    expect(readdirSync(folder)).toEqual([]);
  });
});
