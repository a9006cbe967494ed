import { readdir, readFile, writeFile } from "node:fs/promises";
import { type CpuTime, parseFields, parseStat } from "./process-files.ts";

/** What a process has used since it started. */
export interface ProcessSample {
  readonly cpuSeconds: number;
  /** Its living threads by id. */
  readonly threads: ReadonlyMap<number, CpuTime>;
  /** Peak of the resident memory since the start or the last {@link resetPeakMemory}, MiB. */
  readonly peakMiB: number;
  readonly residentMiB: number;
  /** What it has read and written by system calls: connections and files, MiB. */
  readonly readMiB: number;
  readonly writtenMiB: number;
}

/** CPU of the threads of one name, seconds. */
export interface ThreadCpu {
  readonly name: string;
  readonly cpuSeconds: number;
}

/** What a process used between two samples; memory is that of the later one. */
export interface ProcessUse extends Omit<ProcessSample, "threads"> {
  readonly threads: readonly ThreadCpu[];
}

const KIB_PER_MIB = 1024;
const BYTES_PER_MIB = 1024 * 1024;

const textOf = (path: string): Promise<string> => readFile(path, "utf8");

/** Reads /proc, which only Linux has. Rejects when the process has ended. */
export async function sampleProcess(pid: number): Promise<ProcessSample> {
  const folder = `/proc/${pid}`;
  const ids = await readdir(`${folder}/task`);
  const threads = await Promise.all(
    ids.map(async (id) => {
      try {
        return [[Number(id), parseStat(await textOf(`${folder}/task/${id}/stat`))] as const];
      } catch {
        // It ended in the meantime.
        return [];
      }
    }),
  );
  const [stat, status, io] = await Promise.all(["stat", "status", "io"].map((name) => textOf(`${folder}/${name}`)));
  const memory = parseFields(status ?? "");
  const transfer = parseFields(io ?? "");
  return {
    cpuSeconds: parseStat(stat ?? "").seconds,
    threads: new Map(threads.flat()),
    peakMiB: (memory["VmHWM"] ?? 0) / KIB_PER_MIB,
    residentMiB: (memory["VmRSS"] ?? 0) / KIB_PER_MIB,
    readMiB: (transfer["rchar"] ?? 0) / BYTES_PER_MIB,
    writtenMiB: (transfer["wchar"] ?? 0) / BYTES_PER_MIB,
  };
}

/** The peak of the resident memory starts again from the present one (`/proc/PID/clear_refs`, 5). */
export const resetPeakMemory = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, "5");

/** A process that has used nothing, from which a new one is measured. */
export const nothingUsed: ProcessSample = {
  cpuSeconds: 0,
  threads: new Map(),
  peakMiB: 0,
  residentMiB: 0,
  readMiB: 0,
  writtenMiB: 0,
};

/** What was used between two samples of one process. Threads of one name are added up; those that ended in between are `ended`. */
export function useBetween(before: ProcessSample, after: ProcessSample): ProcessUse {
  const byName = new Map<string, number>();
  for (const [id, { name, seconds }] of after.threads) {
    byName.set(name, (byName.get(name) ?? 0) + seconds - (before.threads.get(id)?.seconds ?? 0));
  }
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
  const living = [...byName.values()].reduce((sum, seconds) => sum + seconds, 0);
  // A tick for rounding.
  if (cpuSeconds - living > 0.011) byName.set("ended", cpuSeconds - living);
  return {
    ...after,
    cpuSeconds,
    threads: [...byName]
      .filter(([, seconds]) => seconds > 0)
      .map(([name, seconds]) => ({ name, cpuSeconds: seconds }))
      .toSorted((a, b) => b.cpuSeconds - a.cpuSeconds),
    readMiB: after.readMiB - before.readMiB,
    writtenMiB: after.writtenMiB - before.writtenMiB,
  };
}

/** A descendant of this process. */
export interface Descendant {
  readonly pid: number;
  readonly name: string;
}

/** All descendants of a process, by the table of processes. */
export async function descendantsOf(root: number): Promise<readonly Descendant[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => Number.isInteger(pid));
  const found = await Promise.all(
    pids.map(async (pid) => {
      try {
        return [{ pid, ...parseStat(await textOf(`/proc/${pid}/stat`)) }];
      } catch {
        return [];
      }
    }),
  );
  const byParent = Map.groupBy(found.flat(), ({ parent }) => parent);
  const below = (pid: number): readonly Descendant[] =>
    (byParent.get(pid) ?? []).flatMap((child) => [{ pid: child.pid, name: child.name }, ...below(child.pid)]);
  return below(root);
}
