import type { ControlCaches, Live, MachineSettings } from "@millwright/controllers";
import type { Leadership } from "@millwright/kube";
import { createLeaderMetrics, type LeaderMetrics } from "../metrics/leader-metrics.ts";
import type { MetricParts } from "../metrics/metric-parts.ts";
import type { MachineTracer } from "./machine-tracer.ts";
import type { ManagerContext } from "./manager-context.ts";
import type { ManagerCaches } from "./manager-caches.ts";
import type { ManagerClusters } from "./manager-clusters.ts";
import type { ManagerControllers } from "./manager-controllers.ts";
import { takeLead } from "./take-lead.ts";

/** What a process does while it leads, and nowhere else: its controllers run, and it measures the objects. */
export interface LeaderTerm {
  /**
   * Waits for the leadership, and runs the controllers until `stopping` aborts. Machines are handed over when all reconciles have ended, so that nothing
   * is deleted after that; not after `failed`, a failure of another part. May be called once.
   */
  run(stopping: AbortSignal, failed: AbortSignal): Promise<void>;
  isLeading(): boolean;
  /** The metrics that only the leader has; nothing while this process does not lead. */
  metricParts(): MetricParts;
}

/** What a term works with. */
export interface LeaderTermOptions {
  readonly context: ManagerContext;
  /** Absent: there is no leader election, and the term begins at once. */
  readonly leadership: Pick<Leadership, "acquired"> | undefined;
  readonly clusters: Pick<ManagerClusters, "clock" | "localClock" | "log">;
  readonly caches: ManagerCaches;
  readonly controllers: Pick<ManagerControllers, "all" | "guards" | "handOver">;
  /** Of two processes that each run a part of the controllers, one measures. */
  readonly measuresObjects: boolean;
  readonly settings: Live<Pick<MachineSettings, "unreachableAfterMs">>;
  readonly tracer: MachineTracer | undefined;
}

/** Reports all machines to a tracer, and then their changes. Returns a function that ends it. */
const traceMachines = (
  { machines }: Pick<ControlCaches, "machines">,
  tracer: MachineTracer | undefined,
  { clock }: Pick<ManagerClusters, "clock">,
): (() => void) | undefined =>
  tracer &&
  machines.store.subscribe((old, current) => tracer.changed(old, current, clock.now().getTime()), { replay: true });

/** Makes the term of a process that does not lead yet. */
export function createLeaderTerm(options: LeaderTermOptions): LeaderTerm {
  const { context, leadership, clusters, caches, controllers, measuresObjects, settings } = options;
  /** There while this process leads and runs. */
  let metrics: LeaderMetrics | undefined;

  /** Controllers act from the caches that are there when this process leads. Returns whether it does. */
  const begin = async (stopping: AbortSignal): Promise<boolean> => {
    try {
      const { localClock: clock, log } = clusters;
      const takeOver = { clock, log, unreachableAfterMs: settings.current().unreachableAfterMs };
      if (leadership !== undefined) await takeLead(leadership, caches.renewed, takeOver, stopping);
      return true;
    } catch (error) {
      if (!stopping.aborted) throw error;
      return false;
    }
  };

  return {
    async run(stopping, failed) {
      if (!(await begin(stopping))) return;
      const own = createLeaderMetrics({ ...context, guards: controllers.guards, measuresObjects });
      metrics = own;
      const endTracing = traceMachines(caches.control, options.tracer, clusters);
      try {
        await Promise.all(controllers.all.map((controller) => controller.start(stopping)));
        if (!failed.aborted) await controllers.handOver();
      } finally {
        endTracing?.();
        own.end();
        metrics = undefined;
      }
    },
    isLeading: () => metrics !== undefined,
    async *metricParts() {
      if (metrics !== undefined) yield* metrics.parts();
    },
  };
}
