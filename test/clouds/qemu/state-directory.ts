import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A VM in a state directory, read without the driver. */
export interface StoredVm {
  readonly folder: string;
  readonly providerId: string;
  readonly nodeName: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Its process; undefined when it has ended. */
  readonly pid: number | undefined;
}

/** An empty state directory. */
export const createStateDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), "millwright-qemu-"));

const textOf = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

/** Processes of QEMU whose arguments name a folder. */
export async function processesIn(folder: string): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => textOf(`/proc/${pid}/cmdline`)));
  return pids.flatMap((pid, index) => {
    const [program = "", ...args] = lines[index]?.split("\0") ?? [];
    return program.includes("qemu-system") && args.some((arg) => arg.includes(`${folder}/`)) ? [Number(pid)] : [];
  });
}

/** The VMs in a state directory. */
export async function storedVms(stateDirectory: string): Promise<readonly StoredVm[]> {
  const found: StoredVm[] = [];
  for (const name of await readdir(stateDirectory)) {
    const folder = join(stateDirectory, name);
    const text = await textOf(join(folder, "vm.json"));
    if (text === "" || name.startsWith(".new.")) continue;
    const record: Omit<StoredVm, "folder" | "pid"> = JSON.parse(text);
    found.push({ ...record, folder, pid: (await processesIn(folder))[0] });
  }
  return found;
}

/** Kills the processes of a state directory that are left, and removes it. */
export async function removeStateDirectory(stateDirectory: string): Promise<void> {
  for (const pid of await processesIn(stateDirectory)) process.kill(pid, "SIGKILL");
  await rm(stateDirectory, { recursive: true, force: true });
}
