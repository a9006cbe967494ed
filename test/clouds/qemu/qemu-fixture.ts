import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineFixture, type FixtureSetup, type ProviderClass } from "@millwright/conformance";
import { createQemuDriver, maxUserDataBytes, ownerTagKeys, systemUuidOf } from "@millwright/provider-qemu";
import { eventually } from "../../harness/eventually.ts";
import {
  createStateDirectory,
  processesIn,
  removeStateDirectory,
  storedVms,
  type StoredVm,
} from "./state-directory.ts";
import { createKernel } from "./virtual-machine.ts";

/** Parts of a class that name files which do not exist, or have another format. */
const missingFiles = (folder: string, kernel: string) => ({
  image: { image: { path: join(folder, "none.qcow2") } },
  "image format": { image: { path: join(folder, "text") } },
  kernel: { kernel: { path: join(folder, "none") } },
  initrd: { kernel: { path: kernel, initrd: join(folder, "none") } },
});

/** What VMs on a computer do not have. */
const lacks = {
  endpoint: "VMs are processes of this computer",
  credentials: "no call is authenticated",
  pages: "lists are not paginated",
  classTags: "the class has no tags",
  duplicateVms: "the name of a folder is unique",
  dataVolumes: "there are no volumes",
  terminationProtection: "VMs cannot be protected",
};

const run = async (folder: string): Promise<FixtureSetup> => {
  const stateDirectory = join(folder, "vms");
  const kernel = await createKernel(folder);
  const spec = {
    cpus: 1,
    memoryMiB: 96,
    diskGiB: 1,
    kernel: { ...kernel, append: "console=ttyS0 quiet" },
    accelerator: "tcg",
    stateDirectory,
    // VMs that are deleted right after their creation do not read the power button yet: each deletion takes this long.
    shutdownGracePeriod: "400ms",
  };
  const classOf = (change: object = {}): ProviderClass => ({ providerSpec: { ...spec, ...change } });
  let totalMemoryMiB = 1_048_576;
  const createDriver = () => createQemuDriver({ totalMemoryMiB: () => totalMemoryMiB });
  const vms = (): Promise<readonly StoredVm[]> => storedVms(stateDirectory).catch(() => []);
  const named = async (machineName: string): Promise<StoredVm> => {
    const vm = (await vms()).find(({ tags }) => tags[ownerTagKeys.machineName] === machineName);
    if (vm === undefined) throw new Error(`there is no VM of ${machineName}`);
    return vm;
  };
  await writeFile(join(folder, "text"), "no image\n");
  return {
    driver: createDriver(),
    machineClass: classOf(),
    secret: {},
    lacks,
    createDriver,
    otherClass: classOf({ memoryMiB: 112 }),
    otherClusterClass: classOf({ cluster: "other" }),
    missingReferences: Object.fromEntries(
      Object.entries(missingFiles(folder, kernel.path)).map(([what, change]) => [what, classOf(change)]),
    ),
    maxUserDataBytes,
    async nodesOf(machineName) {
      const { nodeName, providerId } = await named(machineName);
      const node = { name: nodeName, systemUuid: systemUuidOf(providerId), addresses: [] };
      return { "id of the Machine": { ...node, providerId }, "UUID of the firmware": { ...node, providerId: "" } };
    },
    async inventory() {
      const found = await vms();
      return Promise.all(
        found.map(async ({ providerId, tags, folder }) => ({
          id: providerId,
          machineName: tags[ownerTagKeys.machineName] ?? "",
          tags,
          userData: await readFile(join(folder, "seed/user-data")).catch(() => Buffer.alloc(0)),
        })),
      );
    },
    resources: async () => [
      ...(await vms()).map(({ folder }) => folder),
      ...(await processesIn(stateDirectory)).map((pid) => `process ${pid}`),
    ],
    stage: {
      // Deletions take the grace period of the class.
      slowDeletion: () => Promise.resolve({ end: () => undefined }),
      quotaExhausted() {
        totalMemoryMiB = 64;
        return Promise.resolve({ end: () => void (totalMemoryMiB = 1_048_576) });
      },
      async removeVmOnly(machineName) {
        const { pid, folder } = await named(machineName);
        if (pid === undefined) throw new Error(`the VM of ${machineName} does not run`);
        process.kill(pid, "SIGKILL");
        await eventually(async () => {
          if ((await processesIn(folder)).length > 0) throw new Error("the process has not ended");
        });
      },
    },
    async close() {
      await removeStateDirectory(stateDirectory);
      await rm(folder, { recursive: true });
    },
  };
};

/** VMs of QEMU, emulated in software, for the conformance suite. */
export default defineFixture(async () => run(await createStateDirectory()));
