import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CreateMachineRequest, Secret } from "@millwright/core";
import { aContext, aMachine, failureOf, secretOf } from "@millwright/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createQemuDriver } from "./driver.ts";
import { type QemuSpec, qemuSpecSchema, vmShapeOf } from "./spec/spec.ts";
import { systemUuidOf, vmIdentityOf } from "./vm/identity.ts";
import { managedBy, ownerTagKeys, type VmRecord } from "./vm/record.ts";

const machine = aMachine("pool-1");
const { folderName, providerId, nodeName } = vmIdentityOf("default", machine);

let parent: string;
let vms: string;
let request: CreateMachineRequest<QemuSpec>;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "millwright-driver-"));
  vms = join(parent, "vms");
  const kernel = { path: join(parent, "kernel") };
  await writeFile(kernel.path, "");
  const spec = qemuSpecSchema.parse({ cpus: 1, memoryMiB: 64, kernel, stateDirectory: vms, shutdownGracePeriod: "0s" });
  request = {
    machine,
    machineClass: { name: "pool", spec },
    secret: secretOf({}),
    idempotencyToken: "token",
    userData: Secret.of("#!/bin/sh"),
  };
});
afterEach(() => rm(parent, { recursive: true }));

/** A program that is started instead of QEMU. */
async function program(text: string): Promise<string> {
  const path = join(parent, "qemu-system-x86_64");
  await writeFile(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

/** A folder as of a VM with a process of some pid. */
async function storeVm(pid: number): Promise<void> {
  const record: VmRecord = {
    version: 1,
    providerId,
    nodeName,
    createdAt: "2026-01-01T00:00:00.000Z",
    tags: {
      [ownerTagKeys.managedBy]: managedBy,
      [ownerTagKeys.cluster]: "default",
      [ownerTagKeys.namespace]: machine.namespace,
      [ownerTagKeys.machineName]: machine.name,
      [ownerTagKeys.machineUid]: machine.uid,
    },
    spec: vmShapeOf(request.machineClass.spec),
  };
  await mkdir(join(vms, folderName), { recursive: true });
  await writeFile(join(vms, folderName, "vm.json"), JSON.stringify(record));
  await writeFile(join(vms, folderName, "pid"), `${pid}\n`);
}

describe("the driver of QEMU", () => {
  it("reports that QEMU is not installed, how to install it, and leaves nothing", async () => {
    const driver = createQemuDriver({ systemProgram: "qemu-system-none" });
    expect(await failureOf(driver.createMachine(request, aContext()))).toMatchObject({
      code: "FailedPrecondition",
      message: expect.stringMatching(/qemu-system-none is not installed.*apt install qemu-system-x86/),
    });
    expect(await readdir(vms)).toEqual([]);
  });

  it("explains why QEMU ended at once, and leaves nothing", async () => {
    const path = await program("echo \"qemu-system-x86_64: Could not set up host forwarding rule 'x'\" >&2; exit 1");
    const driver = createQemuDriver({ systemProgram: path });
    expect(await failureOf(driver.createMachine(request, aContext()))).toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringContaining("network.forwards"),
    });
    expect(await readdir(vms)).toEqual([]);
  });

  it("passes no variables of its environment to QEMU", async () => {
    process.env["MILLWRIGHT_TEST_TOKEN"] = "canary";
    const driver = createQemuDriver({ systemProgram: await program('echo "token: $MILLWRIGHT_TEST_TOKEN"; exit 1') });
    const failure = await failureOf(driver.createMachine(request, aContext()));
    delete process.env["MILLWRIGHT_TEST_TOKEN"];
    expect(failure).toMatchObject({ code: "FailedPrecondition", message: expect.stringMatching(/token:$/) });
  });

  it("refuses VMs that do not fit in the memory of the computer", async () => {
    const driver = createQemuDriver({ totalMemoryMiB: () => 63 });
    expect(await failureOf(driver.createMachine(request, aContext()))).toMatchObject({
      code: "ResourceExhausted",
      message: "memoryMiB: 64 MiB do not fit: the computer has 63 MiB, and its VMs have 0",
    });
  });

  it("does not take a process that has the pid of a VM for it, and does not kill it", async () => {
    await storeVm(process.pid);
    const driver = createQemuDriver();
    expect(await failureOf(driver.getMachineStatus(request, aContext()))).toMatchObject({ code: "NotFound" });
    const { machines } = (await driver.listMachines?.(request, aContext())) ?? {};
    expect(machines).toEqual([
      {
        providerId,
        machineName: machine.name,
        machineUid: machine.uid,
        machineNamespace: machine.namespace,
        parts: [`folder ${join(vms, folderName)}`],
      },
    ]);
    expect(await driver.deleteMachine(request, aContext())).toEqual({ vm: "ended" });
    expect(await readdir(vms)).toEqual([]);
  });

  it("keeps a VM whose process serves its socket, although its pid is not visible", async () => {
    await storeVm(4_194_304);
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(join(vms, folderName, "qmp"), resolve));
    const driver = createQemuDriver();
    expect(await driver.getMachineStatus(request, aContext())).toMatchObject({ providerId });
    const { machines } = (await driver.listMachines?.(request, aContext())) ?? {};
    expect(machines?.map(({ parts }) => parts)).toEqual([undefined]);
    await new Promise((resolve) => void server.close(resolve));
    expect(await failureOf(driver.getMachineStatus(request, aContext()))).toMatchObject({ code: "NotFound" });
  });

  it("keeps the folder of a machine of another namespace with the same name", async () => {
    await storeVm(process.pid);
    const other = { ...request, machine: { ...machine, namespace: "other", uid: "other" } };
    const driver = createQemuDriver();
    expect(await failureOf(driver.createMachine(other, aContext()))).toMatchObject({ code: "AlreadyExists" });
    const named = { ...other, machine: { ...other.machine, providerId } };
    expect(await failureOf(driver.deleteMachine(named, aContext()))).toMatchObject({ code: "PermissionDenied" });
    expect(await driver.deleteMachine(other, aContext())).toEqual({ vm: "missing" });
    expect(await readdir(vms)).toEqual([folderName]);
  });

  it("matches a Node by its provider id, else by the UUID of its firmware", () => {
    const driver = createQemuDriver();
    const vm = { machineName: machine.name, providerId, nodeName, addresses: [] };
    const node = { name: nodeName, providerId: "", systemUuid: "", addresses: [] };
    const match = (change: object) => driver.matchNode?.(vm, { ...node, ...change });
    expect(match({ providerId })).toBe("same");
    expect(match({ providerId: "qemu:///default/other", systemUuid: systemUuidOf(providerId) })).toBe("different");
    expect(match({ systemUuid: systemUuidOf(providerId).toUpperCase() })).toBe("same");
    expect(match({ systemUuid: "4c4c4544-0000-0000-0000-000000000000" })).toBe("unknown");
    expect(match({})).toBe("unknown");
  });
});
