/** CPU time of a thread or process, seconds. */
export interface CpuTime {
  /** Name of the thread; the kernel keeps 15 characters. */
  readonly name: string;
  readonly parent: number;
  readonly seconds: number;
}

/** Units of time in `/proc/PID/stat` per second: USER_HZ is 100 on every architecture of Linux that Node supports. */
const TICKS_PER_SECOND = 100;

/** Reads `/proc/PID/stat` or `/proc/PID/task/TID/stat` (proc_pid_stat(5)): user and system time. The name may contain anything, also parentheses. */
export function parseStat(text: string): CpuTime {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  const fields = text.slice(close + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  if (open < 0 || close < open || !Number.isFinite(ticks)) throw new Error(`not a stat file: ${text.slice(0, 100)}`);
  return { name: text.slice(open + 1, close), parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
}

/** Reads a file of lines `name: value unit`, such as `/proc/PID/status` or `/proc/PID/io`; values that are not numbers are left out. */
export function parseFields(text: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...text.matchAll(/^(?<name>\w+):\s+(?<value>\d+)(?: kB)?$/gm)].map(({ groups }) => [
      groups?.["name"] ?? "",
      Number(groups?.["value"]),
    ]),
  );
}
