import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { link, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Secret } from "@millwright/base";
import type { MachineIdentity } from "@millwright/core";
import { aContext, aMachine, failureOf, secretOf } from "@millwright/core/testing";
import { createQemuDriver, type QemuSpec, qemuSpecSchema, systemUuidOf } from "@millwright/provider-qemu";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startProgram } from "../harness/program.ts";
import {
  createStateDirectory,
  processesIn,
  removeStateDirectory,
  storedVms,
  type StoredVm,
} from "./qemu/state-directory.ts";
import { createKernel, hasQemu } from "./qemu/virtual-machine.ts";

const run = promisify(execFile);

let shared: string;
let kernel: { readonly path: string; readonly initrd: string };

/** A state directory of a test, its class, and calls of a new instance of the driver each. */
async function start(change: object = {}) {
  const folder = await createStateDirectory();
  const vms = join(folder, "vms");
  const providerSpec = {
    cpus: 1,
    memoryMiB: 96,
    kernel: { ...kernel, append: "console=ttyS0 quiet" },
    accelerator: "tcg",
    stateDirectory: vms,
    shutdownGracePeriod: "0s",
    ...change,
  };
  onTestFinished(() => removeStateDirectory(folder));
  const classFile = join(folder, "class.json");
  await writeFile(classFile, JSON.stringify(providerSpec));
  const requestFor = (machine: MachineIdentity, userData: string, spec: QemuSpec) => ({
    machine,
    machineClass: { name: "pool", spec },
    secret: secretOf({}),
    idempotencyToken: "token",
    userData: Secret.of(userData),
  });
  const specOf = (more: object = {}): QemuSpec => qemuSpecSchema.parse({ ...providerSpec, ...more });
  return {
    folder,
    vms,
    async create(machine: MachineIdentity, userData = "#!/bin/sh\n") {
      const reply = await createQemuDriver().createMachine(requestFor(machine, userData, specOf()), aContext());
      if ("pending" in reply) throw new Error(`the creation is pending: ${reply.pending.message}`);
      return reply;
    },
    status: (machine: MachineIdentity) =>
      createQemuDriver().getMachineStatus(requestFor(machine, "", specOf()), aContext()),
    remove: (machine: MachineIdentity, more: object = {}) =>
      createQemuDriver().deleteMachine(requestFor(machine, "", specOf(more)), aContext()),
    list: async () =>
      (await createQemuDriver().listMachines?.(requestFor(aMachine("any"), "", specOf()), aContext()))?.machines ?? [],
    drift: async (machine: MachineIdentity, more: object) =>
      (await createQemuDriver().findDrift?.(requestFor(machine, "", specOf(more)), aContext()))?.differences,
    /** Starts a process that calls the driver, and kills it as soon as a state is reached. */
    async killDuring(method: "create" | "delete", machine: MachineIdentity, isReached: () => Promise<boolean>) {
      const file = fileURLToPath(new URL("qemu/call-in-process.ts", import.meta.url));
      const args = ["--conditions=@millwright/source", file, method, machine.name, classFile];
      const caller = startProgram("a call of the driver", process.execPath, args);
      while (!(await isReached())) {
        if (caller.child.exitCode !== null) throw new Error(`the call ended before the state: ${caller.output()}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await caller.stop("SIGKILL");
    },
  };
}

const consoleOf = ({ folder }: StoredVm): Promise<string> => readFile(join(folder, "console.log"), "utf8");

/** Waits until a VM has run its user data. */
async function untilBooted(vm: StoredVm): Promise<string> {
  return eventually(async () => {
    const text = await consoleOf(vm);
    expect(text).toContain("user data ended with status 0");
    return text;
  }, 240_000);
}

const only = async (vms: string): Promise<StoredVm> => {
  const [vm, ...more] = await storedVms(vms);
  if (vm === undefined || more.length > 0) throw new Error(`there is not exactly one VM in ${vms}`);
  return vm;
};

async function kill({ pid, folder }: StoredVm): Promise<void> {
  if (pid === undefined) throw new Error("the VM does not run");
  process.kill(pid, "SIGKILL");
  await eventually(async () => expect(await processesIn(folder)).toEqual([]));
  // A process that is ending has no command line any more, but still serves its socket.
  await eventually(async () => {
    const socket = createConnection({ path: join(folder, "qmp") });
    const isServed = await new Promise<boolean>((resolve) => {
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    });
    socket.destroy();
    expect(isServed).toBe(false);
  });
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

// The timeouts only catch hangs: VMs without KVM are slow on a busy computer.
describe.skipIf(!hasQemu)("VMs of QEMU (where test/clouds/install-qemu was possible)", { timeout: 600_000 }, () => {
  beforeAll(async () => {
    shared = await createStateDirectory();
    kernel = await createKernel(shared);
  });
  afterAll(() => removeStateDirectory(shared));

  it("boot with their user data, host name and firmware UUID, and keep the user data private", async () => {
    const { vms, create } = await start();
    const secret = "canary-1f2e3d";
    const userData = `#!/bin/sh\n# ${secret}\r\necho "id $PROVIDER_ID uuid $SYSTEM_UUID"; sha256sum /seed/user-data\n`;
    const { providerId } = await create(aMachine("pool-1"), userData);
    const vm = await only(vms);
    const text = await untilBooted(vm);
    expect(text).toContain(`pool-1 has the seed of ${providerId.split("/").at(-1)}`);
    expect(text).toContain(`id ${providerId} uuid ${systemUuidOf(providerId)}`);
    expect(text).toContain(createHash("sha256").update(userData).digest("hex"));

    expect((await stat(join(vm.folder, "seed/user-data"))).mode & 0o777).toBe(0o600);
    expect((await stat(vm.folder)).mode & 0o777).toBe(0o700);
    for (const file of ["vm.json", "qemu.log", "seed/meta-data"])
      expect(await readFile(join(vm.folder, file), "utf8")).not.toContain(secret);
    for (const file of ["cmdline", "environ"])
      expect(await readFile(`/proc/${vm.pid}/${file}`, "utf8")).not.toContain(secret);
  });

  it("run on when the process that created them ends, and are found by another", async () => {
    const { vms, folder, create, status, list } = await start();
    const machine = aMachine("pool-1");
    await run(process.execPath, [
      "--conditions=@millwright/source",
      fileURLToPath(new URL("qemu/call-in-process.ts", import.meta.url)),
      "create",
      machine.name,
      join(folder, "class.json"),
    ]);
    const { pid, providerId } = await only(vms);
    expect(await status(machine)).toMatchObject({ providerId, nodeName: "pool-1" });
    expect(await create(machine)).toMatchObject({ providerId });
    expect(await list()).toEqual([
      { providerId, machineName: "pool-1", machineUid: machine.uid, machineNamespace: machine.namespace },
    ]);
    expect(await processesIn(vms)).toEqual([pid]);
  });

  it("that were killed are not found, are listed as leftovers, and are replaced or deleted", async () => {
    const { vms, create, status, remove, list } = await start();
    const [machine, other] = [aMachine("pool-1"), aMachine("pool-2")];
    const { providerId } = await create(machine);
    const killed = await only(vms);
    await create(other);
    await kill(killed);
    expect(await failureOf(status(machine))).toMatchObject({ code: "NotFound" });
    expect((await list()).map(({ machineName, parts }) => [machineName, parts])).toEqual([
      ["pool-1", [`folder ${killed.folder}`]],
      ["pool-2", undefined],
    ]);
    expect(await create(machine)).toMatchObject({ providerId });
    const again = (await storedVms(vms)).find((vm) => vm.providerId === providerId);
    if (again === undefined) throw new Error("there is no VM again");
    expect(again.pid).not.toBe(killed.pid);
    await kill(again);
    expect(await remove(machine)).toEqual({ vm: "ended" });
    expect(await status(other)).toMatchObject({ nodeName: "pool-2" });
    await remove(other);
    expect(await namesIn(vms)).toEqual([]);
  });

  it("shut down by their power button when they are deleted", async () => {
    const { vms, folder, create, remove } = await start();
    const machine = aMachine("pool-1");
    await create(machine);
    const vm = await only(vms);
    await untilBooted(vm);
    const kept = join(folder, "console.log");
    await link(join(vm.folder, "console.log"), kept);
    await remove(machine, { shutdownGracePeriod: "4m" });
    expect(await readFile(kept, "utf8")).toMatch(/power button pressed[^]*Power down/);
    expect(await namesIn(vms)).toEqual([]);
    expect(await processesIn(vms)).toEqual([]);
  });

  it("write to an overlay of their image, and never to the image", async () => {
    const image = join(shared, "image.qcow2");
    const raw = join(shared, "image.raw");
    await writeFile(raw, Buffer.concat([Buffer.from("content of image"), Buffer.alloc(1_048_576)]));
    await run("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", raw, image]);
    const before = await readFile(image);
    const { vms, create, drift } = await start({ image: { path: image }, diskGiB: 2 });
    const machine = aMachine("pool-1");
    await create(
      machine,
      `#!/bin/sh
echo "read $(head -c 16 /dev/vda), $(blockdev --getsize64 /dev/vda) bytes"
printf 'content of a VM!' | dd of=/dev/vda conv=notrunc 2> /dev/null; sync
echo "then $(head -c 16 /dev/vda)"
`,
    );
    const text = await untilBooted(await only(vms));
    expect(text).toContain("read content of image, 2147483648 bytes");
    expect(text).toContain("then content of a VM!");
    expect((await readFile(image)).equals(before)).toBe(true);
    expect(await drift(machine, {})).toEqual([]);
    expect(await drift(machine, { cpus: 2, image: { path: "/new.qcow2" } })).toEqual([
      { field: "cpus", wanted: "2", found: "1" },
      { field: "image.path", wanted: "/new.qcow2", found: image },
    ]);
  });

  it("run the boot loader of their image without a kernel", async () => {
    const image = join(shared, "boot.raw");
    const text = "boot loader runs";
    // mov ds, 0; mov si, text; each byte to the first serial port; then hlt. The text follows, and the mark of a boot sector.
    const code = "fc31c08ed8be167cac84c07406baf803eeebf5f4ebfd";
    const sector = Buffer.alloc(512);
    sector.write(code, "hex");
    sector.write(text, code.length / 2);
    sector.writeUInt16LE(0xaa55, 510);
    await writeFile(image, Buffer.concat([sector, Buffer.alloc(1_048_576 - 512)]));
    const { vms, create } = await start({ image: { path: image, format: "raw" }, kernel: undefined });
    await create(aMachine("pool-1"));
    const vm = await only(vms);
    await eventually(async () => expect(await consoleOf(vm)).toBe(text), 240_000);
  });

  it("are refused if the disk is smaller than the image, or a forwarded port is in use", async () => {
    const image = join(shared, "large.qcow2");
    await run("qemu-img", ["create", "-q", "-f", "qcow2", image, "5G"]);
    const small = await start({ image: { path: image }, diskGiB: 4 });
    expect(await failureOf(small.create(aMachine("pool-1")))).toMatchObject({
      code: "InvalidArgument",
      message: `diskGiB: must be at least 5, the size of image ${image}`,
    });
    // The port of another program, and then of another VM.
    const other = createServer();
    await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
    const { port: hostPort = 0 } = Object(other.address());
    const { vms, create, remove } = await start({ network: { forwards: [{ hostPort, vmPort: 22 }] } });
    const inUse = { code: "ResourceExhausted", message: expect.stringContaining("network.forwards: a port is in use") };
    expect(await failureOf(create(aMachine("pool-1")))).toMatchObject(inUse);
    expect(await namesIn(vms)).toEqual([]);
    await new Promise((resolve) => void other.close(resolve));
    await create(aMachine("pool-1"));
    expect(await failureOf(create(aMachine("pool-2")))).toMatchObject(inUse);
    expect(await namesIn(vms)).toHaveLength(1);
    await remove(aMachine("pool-1"));
    await create(aMachine("pool-2"));
  });

  /** States of a creation, after which the process that creates is killed. */
  const states: readonly (readonly [string, (vms: string) => Promise<boolean>])[] = [
    ["its folder is filled", async (vms) => (await namesIn(vms)).some((name) => name.startsWith(".new."))],
    ["its folder is complete", async (vms) => (await namesIn(vms)).some((name) => !name.startsWith("."))],
    ["its process starts", async (vms) => (await processesIn(vms)).length > 0],
  ];

  it.each(states)("exist once if a creation is killed when %s", async (_, isReached) => {
    const { vms, killDuring, create, remove, status } = await start({ diskGiB: 1 });
    const machine = aMachine("pool-1");
    await killDuring("create", machine, () => isReached(vms));
    const { providerId } = await create(machine);
    expect(await status(machine)).toMatchObject({ providerId });
    await eventually(async () => expect(await processesIn(vms)).toEqual([(await only(vms)).pid]));
    await remove(machine);
    expect(await namesIn(vms)).toEqual([]);
    await eventually(async () => expect(await processesIn(vms)).toEqual([]));
  });

  it.each(states)("are deleted if a creation is killed when %s", async (_, isReached) => {
    const { vms, killDuring, remove } = await start({ diskGiB: 1 });
    const machine = aMachine("pool-1");
    await killDuring("create", machine, () => isReached(vms));
    await remove(machine);
    expect(await namesIn(vms)).toEqual([]);
    // A process that had not locked its pid yet ends by itself.
    await eventually(async () => expect(await processesIn(vms)).toEqual([]));
  });

  it("of an interrupted deletion are not found, but listed, until another process deletes them", async () => {
    const { vms, killDuring, create, status, remove, list } = await start({ shutdownGracePeriod: "4m" });
    const machine = aMachine("pool-1");
    const { providerId } = await create(machine);
    await killDuring("delete", machine, async () => (await namesIn(vms)).some((name) => name.startsWith(".gone.")));
    expect(await failureOf(status(machine))).toMatchObject({ code: "NotFound" });
    expect((await list()).map((vm) => vm.providerId)).toEqual([providerId]);
    const next = { ...machine, uid: "another" };
    const { providerId: nextId } = await create(next);
    await remove({ ...machine, providerId }, { shutdownGracePeriod: "0s" });
    expect(await status(next)).toMatchObject({ providerId: nextId });
    expect(await processesIn(vms)).toEqual([(await only(vms)).pid]);
    await remove(next, { shutdownGracePeriod: "0s" });
    expect(await namesIn(vms)).toEqual([]);
  });
});
