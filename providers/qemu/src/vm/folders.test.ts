import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createStaging,
  listFolders,
  publish,
  readAllFolders,
  readFolder,
  removeAbandonedStaging,
  retire,
} from "./folders.ts";
import type { VmRecord } from "./record.ts";

const record: VmRecord = {
  version: 1,
  providerId: "qemu:///a/pool-1-0123456789ab-01234567",
  nodeName: "pool-1",
  createdAt: "2026-01-01T00:00:00.000Z",
  tags: {},
  spec: { cpus: 1, memoryMiB: 64, accelerator: "auto", network: { forwards: [] } },
};
const name = "pool-1-0123456789ab";

let parent: string;
let vms: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "millwright-folders-"));
  vms = join(parent, "vms");
});
afterEach(() => rm(parent, { recursive: true }));

const staged = async (): Promise<string> => {
  const staging = await createStaging(vms, name);
  await writeFile(join(staging, "vm.json"), JSON.stringify(record));
  return staging;
};

describe("the folders of VMs", () => {
  it("are not there before the first VM", async () => {
    expect(await listFolders(vms)).toEqual([]);
    expect(await readFolder(vms, name)).toBeUndefined();
  });

  it("appear at once, and only for one of two creations", async () => {
    const [first, second] = [await staged(), await staged()];
    expect(await listFolders(vms)).toEqual([]);
    expect((await stat(vms)).mode & 0o777).toBe(0o700);
    expect((await stat(first)).mode & 0o777).toBe(0o700);
    const path = await publish(first, vms, name);
    expect(await readFolder(vms, name)).toEqual({ path, record, isTerminating: false });
    await expect(publish(second, vms, name)).rejects.toMatchObject({ code: "Aborted" });
  });

  it("are listed, but no longer found, while they are deleted", async () => {
    const path = await publish(await staged(), vms, name);
    const retired = await retire({ path, record, isTerminating: false });
    expect(await readFolder(vms, name)).toBeUndefined();
    expect(await readAllFolders(vms, name)).toEqual([{ path: retired, record, isTerminating: true }]);
    expect(await listFolders(vms)).toEqual([{ path: retired, record, isTerminating: true }]);
    expect(await retire({ path, record, isTerminating: false })).toBeUndefined();
    await publish(await staged(), vms, name);
    expect(await readAllFolders(vms, name)).toHaveLength(2);
  });

  it("of interrupted creations are removed, and those of running processes are kept", async () => {
    const running = await staged();
    // A process of this pid that started at another time.
    await mkdir(join(vms, `.new.${name}.${process.pid}.1.abcdef`));
    await mkdir(join(vms, `.new.${name}.4194304.1.abcdef`));
    await mkdir(join(vms, ".new.other-0123456789ab.4194304.1.abcdef"));
    await removeAbandonedStaging(vms, name);
    expect((await readdir(vms)).toSorted()).toEqual(
      [running.slice(vms.length + 1), ".new.other-0123456789ab.4194304.1.abcdef"].toSorted(),
    );
  });

  it("fail a whole list if a record cannot be read", async () => {
    const path = await publish(await staged(), vms, name);
    await writeFile(join(path, "vm.json"), '{"version":1');
    await expect(listFolders(vms)).rejects.toMatchObject({
      code: "FailedPrecondition",
      message: expect.stringContaining(`${path}/vm.json`),
    });
  });

  it("are not looked for in what is not a folder", async () => {
    await writeFile(vms, "");
    await expect(listFolders(vms)).rejects.toMatchObject({
      code: "FailedPrecondition",
      message: expect.stringContaining("stateDirectory"),
    });
  });
});
