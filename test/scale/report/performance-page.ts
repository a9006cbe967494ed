import { markdownTable } from "../../../tools/docs/markdown-table.ts";
import { scenarios } from "../scenarios/all-scenarios.ts";
import { drawBarChart } from "./bar-chart.ts";
import { shown } from "./compare.ts";
import type { RunResult } from "./run-result.ts";

const titleOf = ({ scenario, machines, minutes }: RunResult): string =>
  `${scenario}, ${machines.toLocaleString("en")}${minutes === undefined ? "" : `, ${minutes} min`}`;

const inSeconds = (ms: number | undefined): string => shown(ms === undefined ? undefined : ms / 1000);

const onRealServer = (results: readonly RunResult[]): readonly RunResult[] =>
  results.filter(({ server }) => server.startsWith("kube-apiserver"));

const ofMillwright = (results: readonly RunResult[]): readonly RunResult[] =>
  onRealServer(results).filter(({ subject }) => subject === "millwright");

/** Each measurement of Millwright with that of another subject in the same scenario. */
const pairs = (
  results: readonly RunResult[],
  subject: RunResult["subject"],
): readonly (readonly [RunResult, RunResult])[] =>
  ofMillwright(results).flatMap((ours) => {
    const theirs = onRealServer(results).find((each) => each.subject === subject && titleOf(each) === titleOf(ours));
    return theirs === undefined ? [] : [[ours, theirs] as const];
  });

const transferred = ({ processes }: RunResult): number =>
  processes.reduce((sum, { readMiB, writtenMiB }) => sum + readMiB + writtenMiB, 0);

/** Absent for scenarios of a fixed duration, whose cost is one of time. */
const perMachine = ({ machines, minutes }: RunResult, value: number): number | undefined =>
  minutes === undefined ? value / machines : undefined;

/** On which computers, with what, and when. */
function conditionsList(results: readonly RunResult[]): string {
  const lines = results.map(
    ({ computer: { cpu, cores, memoryGiB, system, node }, server }) =>
      `${cores} cores (${cpu}), ${memoryGiB} GiB of memory, ${system}, Node.js ${node}, ${server}`,
  );
  const dates = results.map(({ date }) => date.slice(0, 10)).toSorted();
  const builds = results.map(({ subject, build }) => `${subject}: ${build}`);
  const commits = results.filter(({ subject }) => subject === "millwright").map(({ commit }) => commit);
  return [
    ...[...new Set(lines)].map((line) => `- Computer: ${line}.`),
    `- Programs: ${[...new Set(builds)].join("; ")}. Commits: ${[...new Set(commits)].join(", ")}.`,
    `- Measured from ${dates[0] ?? ""} to ${dates.at(-1) ?? ""}.`,
  ].join("\n");
}

/** What the scenarios do that were measured. */
const scenarioList = (results: readonly RunResult[]): string =>
  scenarios
    .filter(({ name }) => results.some(({ scenario }) => scenario === name))
    .map(({ name, measures }) => `- \`${name}\`: ${measures}.`)
    .join("\n");

const summaryTable = (results: readonly RunResult[]): string =>
  markdownTable(
    [
      "scenario, machines",
      "requests",
      "requests per machine",
      "CPU, s",
      "CPU per machine, ms",
      "peak memory, MiB",
      "read and written, MiB",
      "wall time, s",
    ],
    results.map((result) => [
      titleOf(result),
      shown(result.requestCount),
      shown(perMachine(result, result.requestCount)),
      shown(result.cpuSeconds),
      shown(perMachine(result, 1000 * result.cpuSeconds)),
      shown(result.peakMiB),
      shown(transferred(result)),
      shown(result.wallSeconds),
    ]),
  );

const latencyTable = (results: readonly RunResult[]): string =>
  markdownTable(
    [
      "scenario, machines",
      "machine to Running p50, s",
      "p99, s",
      "event loop p50, ms",
      "p99, ms",
      "max, ms",
      "queue of machines mean, ms",
    ],
    results.map((result) => [
      titleOf(result),
      inSeconds(result.creation?.p50Ms),
      inSeconds(result.creation?.p99Ms),
      shown(result.eventLoop?.p50Ms),
      shown(result.eventLoop?.p99Ms),
      shown(result.eventLoop?.maxMs),
      shown(result.queues["machine"]?.meanMs),
    ]),
  );

/** Kinds of requests that are rarer than this share of the largest one are added up. */
const RARE = 0.02;

/** Requests of each scenario, by verb and resource. */
const requestTable = (results: readonly RunResult[]): string =>
  markdownTable(
    ["scenario, machines", "requests"],
    results.map((result) => {
      const least = RARE * (result.requests[0]?.count ?? 0);
      const [common, rare] = [
        result.requests.filter(({ count }) => count >= least),
        result.requests.filter(({ count }) => count < least),
      ];
      const rest = rare.reduce((sum, { count }) => sum + count, 0);
      const texts = common.map(({ verb, resource, count }) => `${shown(count)} ${verb} \`${resource}\``);
      return [titleOf(result), [...texts, ...(rest === 0 ? [] : [`${shown(rest)} others`])].join(", ")];
    }),
  );

/** Where the CPU goes: threads of the process, and everything else. */
const cpuTable = (results: readonly RunResult[]): string =>
  markdownTable(
    ["scenario, machines", "threads of the process, s of CPU", "everything else, s of CPU"],
    results.map(({ processes, others, ...result }) => {
      const list = (rows: readonly { readonly name: string; readonly cpuSeconds: number }[]): string =>
        rows.map(({ name, cpuSeconds }) => `${name} ${shown(cpuSeconds)}`).join(", ");
      return [
        titleOf({ ...result, processes, others }),
        list(processes.flatMap(({ threads }) => threads)),
        list(others),
      ];
    }),
  );

/** What the API server and etcd have used. */
const serverSeconds = ({ others }: RunResult): number =>
  others
    .filter(({ name }) => name === "kube-apiserver" || name === "etcd")
    .reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);

/** Millwright beside another subject: one row for each figure of each scenario. */
const comparisonTable = (results: readonly RunResult[], subject: RunResult["subject"], title: string): string => {
  const figures: readonly (readonly [string, (result: RunResult) => number])[] = [
    ["requests", ({ requestCount }) => requestCount],
    ["CPU, s", ({ cpuSeconds }) => cpuSeconds],
    ["CPU of kube-apiserver and etcd, s", serverSeconds],
    ["peak memory, MiB", ({ peakMiB }) => peakMiB],
    ["wall time, s", ({ wallSeconds }) => wallSeconds],
  ];
  const rows = pairs(results, subject).flatMap(([ours, theirs]) =>
    figures.map(([name, of]) => [
      titleOf(ours),
      name,
      shown(of(ours)),
      shown(of(theirs)),
      of(theirs) === 0 ? "" : (of(ours) / of(theirs)).toFixed(2),
    ]),
  );
  return rows.length === 0
    ? "Not measured yet."
    : markdownTable(["scenario, machines", "figure", "Millwright", title, "ratio"], rows);
};

/** Several processes, each with a namespace, in one cluster. */
const processesTable = (results: readonly RunResult[]): string => {
  const rows = results
    .filter(({ scenario }) => scenario.startsWith("ten-processes"))
    .map((result) => [
      `${titleOf(result)}, ${result.server}`,
      shown(perMachine(result, result.requestCount)),
      shown(perMachine(result, 1000 * result.cpuSeconds)),
      shown(Math.max(...result.processes.map(({ peakMiB }) => peakMiB))),
      shown(result.peakMiB),
      shown(result.wallSeconds),
    ]);
  return rows.length === 0
    ? "Not measured yet."
    : markdownTable(
        [
          "scenario, machines, server",
          "requests per machine",
          "CPU per machine, ms",
          "peak memory of the largest process, MiB",
          "of all, MiB",
          "wall time, s",
        ],
        rows,
      );
};

/** The generated blocks of `docs/project/performance.md`, by name. */
export function performanceBlocks(results: readonly RunResult[]): ReadonlyMap<string, string> {
  const ours = ofMillwright(results);
  return new Map([
    ["performance-conditions", conditionsList(onRealServer(results))],
    ["performance-scenarios", scenarioList(ours)],
    ["performance-summary", summaryTable(ours)],
    ["performance-latencies", latencyTable(ours)],
    ["performance-requests", requestTable(ours)],
    ["performance-cpu", cpuTable(ours)],
    ["performance-mcm", comparisonTable(results, "go-mcm", "MCM")],
    ["performance-floor", comparisonTable(results, "floor", "floor")],
    ["performance-same-requests", comparisonTable(results, "same-requests", "same requests")],
    ["performance-processes", processesTable(results)],
  ]);
}

const chart = (
  title: string,
  results: readonly RunResult[],
  of: (result: RunResult) => number | undefined,
  unit: string,
): string => {
  const theirs = new Map(pairs(results, "go-mcm"));
  return drawBarChart({
    title,
    groups: ofMillwright(results).flatMap((result) => {
      const both = [result, ...(theirs.has(result) ? [theirs.get(result) ?? result] : [])];
      const bars = both.flatMap((each) => {
        const value = of(each);
        const series = each.subject === "millwright" ? "Millwright" : "MCM";
        return value === undefined ? [] : [{ series, value, text: `${shown(value)} ${unit}` }];
      });
      return bars.length === 0 ? [] : [{ name: titleOf(result), bars }];
    }),
  });
};

/** The charts beside that page: path in the repository to SVG. */
export const performanceCharts = (results: readonly RunResult[]): ReadonlyMap<string, string> =>
  new Map([
    [
      "docs/project/performance-requests.svg",
      chart("Requests per machine", results, (result) => perMachine(result, result.requestCount), ""),
    ],
    ["docs/project/performance-cpu.svg", chart("CPU", results, ({ cpuSeconds }) => cpuSeconds, "s")],
    ["docs/project/performance-memory.svg", chart("Peak memory", results, ({ peakMiB }) => peakMiB, "MiB")],
  ]);
