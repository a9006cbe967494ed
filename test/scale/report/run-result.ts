import type { RequestCount } from "../measure/request-counts.ts";
import type { ThreadCpu } from "../measure/sample-process.ts";

/** Which computer measured. */
export interface Computer {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
}

/** What a process of the controllers used. */
export interface ProcessResult {
  readonly name: string;
  readonly cpuSeconds: number;
  readonly threads: readonly ThreadCpu[];
  /** Peak of the resident memory during the measurement. */
  readonly peakMiB: number;
  /** Resident memory at its end. */
  readonly residentMiB: number;
  readonly readMiB: number;
  readonly writtenMiB: number;
}

/** Durations, milliseconds. */
export interface Quantiles {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** One measurement: a scenario of one size with one kind of controllers. */
export interface RunResult {
  readonly scenario: string;
  readonly subject: "millwright" | "go-mcm" | "floor" | "same-requests";
  readonly build: string;
  /** Commit of the repository, with `+` when sources of packages were changed. */
  readonly commit: string;
  readonly server: string;
  readonly machines: number;
  /** Only of scenarios with a fixed duration. */
  readonly minutes?: number;
  readonly date: string;
  readonly computer: Computer;
  /** From the first request of the scenario until its end was seen. */
  readonly wallSeconds: number;
  /** Requests of the controllers, most frequent first. */
  readonly requests: readonly Omit<RequestCount, "agent">[];
  readonly requestCount: number;
  readonly processes: readonly ProcessResult[];
  readonly cpuSeconds: number;
  readonly peakMiB: number;
  /** Everything else, by program: cloud and nodes, API server, etcd. */
  readonly others: readonly { readonly name: string; readonly cpuSeconds: number }[];
  /** Requests of all other clients, by the name of the client. */
  readonly otherRequests: Readonly<Record<string, number>>;
  /** Delay of the event loop of the process; absent without that metric. `p50Ms` and `p99Ms` include its resolution of 100 ms. */
  readonly eventLoop?: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  /** How long keys waited for a worker, by controller. `p99Ms` is estimated within a bucket, whose bounds are powers of ten. */
  readonly queues: Readonly<
    Record<string, { readonly count: number; readonly meanMs: number; readonly p99Ms: number }>
  >;
  /** From the first sight of a machine to its phase Running, by a watch. Absent when no machine was created. */
  readonly creation?: Quantiles & { readonly maxMs: number };
  /** Events of watches that the caches received, by resource. */
  readonly watchEvents: Readonly<Record<string, number>>;
}

/** Identifies a measurement: only results with equal keys are compared. */
export const resultKey = ({ scenario, subject, machines, minutes, server }: RunResult): string =>
  [scenario, subject, machines, minutes ?? "", server.split(" ")[0]].join("/");

/** Rounds for the file: a hundredth is less than two runs differ by. */
export const rounded = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (typeof each === "number" ? Math.round(each * 100) / 100 : each)),
  ) as T;
