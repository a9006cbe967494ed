import type { ApiClient } from "@millwright/kube";
import type { RunResult } from "../report/run-result.ts";
import type { Subject, SubjectProgram } from "../subjects/subject.ts";
import type { BenchCluster } from "../world/cluster.ts";
import { bucketsBy, parseMetrics, type Sample, sumBy } from "./metrics-text.ts";
import { bucketsBetween, histogramQuantile } from "./quantile.ts";
import { requestsBetween, totalOf } from "./request-counts.ts";
import {
  nothingUsed,
  type ProcessSample,
  type ProcessUse,
  resetPeakMemory,
  sampleProcess,
  useBetween,
} from "./sample-process.ts";

/** What is measured of a run, apart from what identifies it. */
export type Measured = Pick<
  RunResult,
  | "requests"
  | "requestCount"
  | "otherRequests"
  | "processes"
  | "cpuSeconds"
  | "peakMiB"
  | "others"
  | "eventLoop"
  | "queues"
  | "watchEvents"
>;

/** A measurement that has begun. */
export interface Measurement {
  /** Measures a process from its start on. */
  add(program: SubjectProgram): void;
  /** Takes what a process has used; to be called before it is ended. */
  retire(program: SubjectProgram): Promise<void>;
  /** Resolves when the controllers have sent no request for a while, but does not wait for longer than a minute. */
  untilQuiet(): Promise<void>;
  finish(): Promise<Measured>;
}

/** Where to measure. */
export interface MeasurementOptions {
  readonly api: ApiClient;
  readonly cluster: BenchCluster;
  readonly subject: Subject;
  /** Processes of the controllers that run. */
  readonly programs: readonly SubjectProgram[];
  /** Other processes by name. */
  readonly others: readonly { readonly name: string; readonly pid: number }[];
}

const MS = 1000;
/** No request for so long is quiet, milliseconds. */
const QUIET_MS = 2_000;
const QUIET_TIMEOUT_MS = 60_000;

interface Reading {
  readonly sample: ProcessSample;
  readonly metrics: readonly Sample[];
}

const pidOf = ({ program }: SubjectProgram): number => program.child.pid ?? 0;

/** The metrics of a process; none when it serves none, as a standby of some programs does not. */
async function readMetrics({ metricsUrl }: SubjectProgram): Promise<readonly Sample[]> {
  try {
    return parseMetrics(await (await fetch(metricsUrl)).text());
  } catch {
    return [];
  }
}

const read = async (program: SubjectProgram): Promise<Reading> => {
  // The metrics first: reading them is work of the process.
  const metrics = await readMetrics(program);
  return { sample: await sampleProcess(pidOf(program)), metrics };
};

/** Begins to measure. */
export async function beginMeasurement(options: MeasurementOptions): Promise<Measurement> {
  const { cluster, subject } = options;
  const before = new Map<SubjectProgram, Reading>();
  const after = new Map<SubjectProgram, Reading>();
  for (const program of options.programs) {
    await resetPeakMemory(pidOf(program));
    before.set(program, await read(program));
  }
  const othersBefore = await Promise.all(options.others.map(({ pid }) => sampleProcess(pid)));
  const requestsBefore = await cluster.requests();
  const isOurs = ({ agent }: { readonly agent: string }): boolean => subject.agents.includes(agent);
  const sent = async () => requestsBetween(requestsBefore, await cluster.requests());

  return {
    add: (program) => void before.set(program, { sample: nothingUsed, metrics: [] }),
    async retire(program) {
      after.set(program, await read(program));
    },
    async untilQuiet() {
      const deadline = Date.now() + QUIET_TIMEOUT_MS;
      let last = -1;
      while (Date.now() < deadline) {
        // The leases are renewed for ever.
        const count = totalOf((await sent()).filter((row) => isOurs(row) && row.resource !== "leases"));
        if (count === last) return;
        last = count;
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      }
    },
    async finish() {
      const requests = await sent();
      const othersAfter = await Promise.all(options.others.map(({ pid }) => sampleProcess(pid)));
      const uses: (ProcessUse & { readonly name: string })[] = [];
      for (const [program, { sample }] of before) {
        if (!after.has(program)) after.set(program, await read(program));
        uses.push({ name: program.name, ...useBetween(sample, after.get(program)?.sample ?? sample) });
      }
      // Series of several processes are added up.
      const first = [...before.values()].flatMap(({ metrics }) => metrics);
      const last = [...after.values()].flatMap(({ metrics }) => metrics);
      const ours = requests.filter(isOurs);
      return {
        requests: mergeAgents(ours),
        requestCount: totalOf(ours),
        otherRequests: countByAgent(requests.filter((row) => !isOurs(row))),
        processes: uses,
        cpuSeconds: uses.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
        peakMiB: uses.reduce((sum, { peakMiB }) => sum + peakMiB, 0),
        others: options.others.map(({ name }, index) => ({
          name,
          cpuSeconds: (othersAfter[index]?.cpuSeconds ?? 0) - (othersBefore[index]?.cpuSeconds ?? 0),
        })),
        ...eventLoopOf(last),
        queues: queuesBetween(first, last),
        watchEvents: watchEventsBetween(first, last),
      };
    },
  };
}

const countByAgent = (rows: ReturnType<typeof requestsBetween>): RunResult["otherRequests"] =>
  Object.fromEntries([...Map.groupBy(rows, ({ agent }) => agent)].map(([agent, each]) => [agent, totalOf(each)]));

/** The requests of the programs of one kind of controllers, together. */
function mergeAgents(rows: ReturnType<typeof requestsBetween>): RunResult["requests"] {
  const byKind = Map.groupBy(rows, ({ verb, resource }) => `${verb} ${resource}`);
  return [...byKind.values()]
    .flatMap(([first, ...rest]) =>
      first === undefined ? [] : [{ verb: first.verb, resource: first.resource, count: totalOf([first, ...rest]) }],
    )
    .toSorted((a, b) => b.count - a.count);
}

/** The worst process: its metrics are those since they were read before. */
function eventLoopOf(samples: readonly Sample[]): Pick<Measured, "eventLoop"> {
  const highest = (name: string): number | undefined => {
    const found = samples.filter((sample) => sample.name === `nodejs_eventloop_lag_${name}_seconds`);
    return found.length === 0 ? undefined : Math.max(...found.map(({ value }) => value)) * MS;
  };
  const [p50Ms, p99Ms, maxMs] = [highest("p50"), highest("p99"), highest("max")];
  return p50Ms === undefined || p99Ms === undefined || maxMs === undefined
    ? {}
    : { eventLoop: { p50Ms, p99Ms, maxMs } };
}

function queuesBetween(first: readonly Sample[], last: readonly Sample[]): RunResult["queues"] {
  const name = "workqueue_queue_duration_seconds";
  const earlier = bucketsBy(first, name, "name");
  const [sumBefore, sumAfter] = [first, last].map((samples) => sumBy(samples, `${name}_sum`, "name"));
  return Object.fromEntries(
    [...bucketsBy(last, name, "name")].flatMap(([queue, buckets]) => {
      const between = bucketsBetween(earlier.get(queue) ?? [], buckets);
      const count = between.at(-1)?.[1] ?? 0;
      const p99 = histogramQuantile(between, 0.99);
      if (p99 === undefined) return [];
      const seconds = (sumAfter?.get(queue) ?? 0) - (sumBefore?.get(queue) ?? 0);
      return [[queue, { count, meanMs: (seconds / count) * MS, p99Ms: p99 * MS }]];
    }),
  );
}

function watchEventsBetween(first: readonly Sample[], last: readonly Sample[]): Readonly<Record<string, number>> {
  const name = "millwright_cache_events_total";
  const earlier = sumBy(first, name, "resource");
  return Object.fromEntries(
    [...sumBy(last, name, "resource")].map(([resource, count]) => [resource, count - (earlier.get(resource) ?? 0)]),
  );
}
