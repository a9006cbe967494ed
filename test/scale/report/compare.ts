import { type RunResult, resultKey } from "./run-result.ts";

/** A figure of a result. */
interface Figure {
  readonly name: string;
  readonly of: (result: RunResult) => number | undefined;
}

/** Figures that are compared, in the order of the table. */
export const figures: readonly Figure[] = [
  { name: "requests", of: ({ requestCount }) => requestCount },
  { name: "requests per machine", of: ({ requestCount, machines }) => requestCount / machines },
  { name: "CPU, s", of: ({ cpuSeconds }) => cpuSeconds },
  { name: "CPU per machine, ms", of: ({ cpuSeconds, machines }) => (1000 * cpuSeconds) / machines },
  { name: "peak memory, MiB", of: ({ peakMiB }) => peakMiB },
  {
    name: "read and written, MiB",
    of: ({ processes }) => processes.reduce((sum, { readMiB, writtenMiB }) => sum + readMiB + writtenMiB, 0),
  },
  { name: "event loop p99, ms", of: ({ eventLoop }) => eventLoop?.p99Ms },
  { name: "event loop max, ms", of: ({ eventLoop }) => eventLoop?.maxMs },
  { name: "queue of machines mean, ms", of: ({ queues }) => queues["machine"]?.meanMs },
  { name: "machine to Running p50, s", of: ({ creation }) => seconds(creation?.p50Ms) },
  { name: "machine to Running p99, s", of: ({ creation }) => seconds(creation?.p99Ms) },
  { name: "wall time, s", of: ({ wallSeconds }) => wallSeconds },
];

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

/** A number with three significant digits. */
export function shown(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

const ratioOf = (value: number | undefined, base: number | undefined): string =>
  value === undefined || base === undefined || base === 0 ? "" : `×${(value / base).toFixed(2)}`;

/** Rows of a comparison: name, new value, other value, ratio of the new one to the other. Figures that neither has are left out. */
export function compare(result: RunResult, other: RunResult | undefined): readonly (readonly string[])[] {
  return figures.flatMap(({ name, of }) => {
    const [value, base] = [of(result), other === undefined ? undefined : of(other)];
    return value === undefined && base === undefined ? [] : [[name, shown(value), shown(base), ratioOf(value, base)]];
  });
}

/** The result of the same measurement. */
export const resultLike = (result: RunResult, results: readonly RunResult[]): RunResult | undefined =>
  results.find((each) => resultKey(each) === resultKey(result));

/** Lines of a table, columns after the first one to the right. */
export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}
