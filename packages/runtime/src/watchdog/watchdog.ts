import { getHeapStatistics } from "node:v8";
import type { Clock, Timer } from "@millwright/base";
import { ownMetricNames } from "@millwright/core/machine-api";
import type { Log } from "@millwright/kube";
import { Registry } from "prom-client";
import { registerIn } from "../metrics/register.ts";
import {
  decideWatchdog,
  type Vitals,
  type WatchdogDecision,
  type WatchdogLimits,
  type WatchdogProblem,
} from "./decide-watchdog.ts";
import type { HealthReport } from "./health-messages.ts";

/** What a manager shows of itself. */
export interface ManagerVitals extends Pick<Vitals, "operations" | "caches"> {
  /** Caches that have not had their first list. */
  readonly unsynced: readonly string[];
}

/** Options of {@link startWatchdog}. */
export interface WatchdogOptions {
  vitals(): ManagerVitals;
  /** Whether it is known which process leads. */
  isLeaderKnown(): boolean;
  /** What else keeps the process from being ready. Default: nothing. */
  problems?(): readonly string[];
  readonly limits: WatchdogLimits;
  /** Receives what is wrong, and what runs. */
  report(report: HealthReport): void;
  /** Called once, when nothing but a restart is left. */
  onRestart(because: string): void;
  /** Shares of memory in use, by their limit. Default: those of this process. */
  readonly memory?: () => Vitals["memory"];
  readonly clock: Clock;
  readonly log: Log;
}

/** A watchdog that runs. */
export interface Watchdog {
  /** Its metrics, in Prometheus' text format. */
  metrics(): Promise<string>;
  stop(): void;
}

/** Between two looks, milliseconds. */
const INTERVAL_MS = 1_000;

/** A look that comes so much too late shows that the event loop was blocked, milliseconds. */
const STALL_MS = 1_000;

/** How many operations the log and the health thread get, and how many caches the log. */
const MOST_SHOWN = 10;

/** How long the limit of the container is believed, milliseconds: to read it takes several system calls, and it seldom changes. */
const LIMIT_MS = 60_000;

/** Reads the memory in use: of the heap of this process, and of its container where that has a limit. */
export function createMemoryReader(clock: Pick<Clock, "monotonicMs">): () => Vitals["memory"] {
  let container = { limit: 0, until: -Infinity };
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= container.until) container = { limit: process.constrainedMemory(), until: nowMs + LIMIT_MS };
    const { used_heap_size: used, heap_size_limit: heap } = getHeapStatistics();
    // Without a limit it is 0, or more than any machine has.
    const isLimited = container.limit > 0 && container.limit < 2 ** 50;
    return { heap: used / heap, ...(isLimited ? { container: process.memoryUsage.rss() / container.limit } : {}) };
  };
}

function createMetrics(registry: Registry) {
  const { gauge, histogram } = registerIn(registry);
  const stallHelp = "How long the event loop was blocked, in seconds; stalls of more than a second.";
  const longestHelp = "How long the operation that runs for longest has run, in seconds.";
  return {
    stalls: histogram(ownMetricNames.eventLoopStalls, stallHelp, [], [1, 2, 5, 10, 30, 60]),
    problems: gauge(ownMetricNames.watchdogProblems, "What the watchdog finds wrong.", ["kind"]),
    memory: gauge(ownMetricNames.memoryShare, "Share of memory in use, from 0 to 1.", ["of"]),
    longest: gauge(ownMetricNames.longestOperation, longestHelp, ["kind"]),
  };
}

const describeRunning = ({ operations }: Pick<Vitals, "operations">): readonly string[] =>
  operations
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, MOST_SHOWN)
    .map(({ kind, what, ms }) => `${kind} ${what}, ${(ms / 1_000).toFixed(1)} s`);

/** What fills the memory, as far as the process knows; of other problems nothing. */
const describeCaches = (
  { caches }: Pick<Vitals, "caches">,
  problems: readonly WatchdogProblem[],
): { readonly objects?: readonly string[] } => {
  if (!problems.some(({ kind }) => kind === "memory")) return {};
  const largest = caches.toSorted((a, b) => b.objects - a.objects).slice(0, MOST_SHOWN);
  return { objects: largest.map(({ name, objects }) => `${name} ${objects}`) };
};

/** Watches a manager: logs what is wrong with it, shows it as readiness and metrics, and has the process restarted when nothing else is left. */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const { limits, clock, log, memory = createMemoryReader(options.clock) } = options;
  const registry = new Registry();
  const metrics = createMetrics(registry);
  let decision: WatchdogDecision | undefined;
  let isRestarting = false;
  let lastMs = clock.monotonicMs();
  let timer: Timer | undefined;

  const noteStall = (lateMs: number, running: readonly string[]): void => {
    if (lateMs < STALL_MS) return;
    metrics.stalls.observe(lateMs / 1_000);
    log("warn", "The event loop was blocked", { durationMs: Math.round(lateMs), running });
  };

  const logChanges = (
    before: WatchdogDecision | undefined,
    after: WatchdogDecision,
    vitals: Vitals,
    running: readonly string[],
  ): void => {
    const known = new Set(before?.problems.map(({ subject }) => subject));
    const current = new Set(after.problems.map(({ subject }) => subject));
    for (const problem of after.problems) {
      if (known.has(problem.subject)) continue;
      const fields = { because: problem.message, running, ...describeCaches(vitals, [problem]) };
      log("warn", "The process does not work well", fields);
    }
    for (const subject of known) if (!current.has(subject)) log("info", "The process works well again", { subject });
  };

  const measure = (vitals: Vitals, { problems }: WatchdogDecision): void => {
    for (const kind of ["operation", "cache", "memory"] as const)
      metrics.problems.set({ kind }, problems.filter((problem) => problem.kind === kind).length);
    for (const [of, share] of Object.entries(vitals.memory)) metrics.memory.set({ of }, share);
    for (const kind of ["driver call", "reconcile"] as const) {
      const times = vitals.operations.filter((operation) => operation.kind === kind).map(({ ms }) => ms);
      metrics.longest.set({ kind }, Math.max(0, ...times) / 1_000);
    }
  };

  const look = (): void => {
    const nowMs = clock.monotonicMs();
    const { unsynced, operations, caches } = options.vitals();
    const vitals: Vitals = { operations, caches, memory: memory() };
    const running = describeRunning(vitals);
    noteStall(nowMs - lastMs - INTERVAL_MS, running);
    lastMs = nowMs;
    const next = decideWatchdog(vitals, decision, limits, nowMs);
    logChanges(decision, next, vitals, running);
    measure(vitals, next);
    decision = next;
    options.report({
      problems: [
        ...(unsynced.length === 0 ? [] : [`waiting for the first list of ${unsynced.join(", ")}`]),
        ...(options.isLeaderKnown() ? [] : ["waiting to know the leader"]),
        ...(options.problems?.() ?? []),
        ...next.problems.map(({ message }) => message),
      ],
      running,
    });
    if (next.state === "restart" && !isRestarting) {
      isRestarting = true;
      const because = next.problems.flatMap(({ needsRestart, message }) => (needsRestart ? [message] : []));
      const fields = { because: because.join("; "), running, ...describeCaches(vitals, next.problems) };
      log("error", "The process is restarted", fields);
      options.onRestart(because.join("; "));
    }
    timer = clock.setTimer(INTERVAL_MS, look);
  };
  look();
  return { metrics: () => registry.metrics(), stop: () => timer?.cancel() };
}
