import { controllerMetricNames } from "@millwright/core";
import { Gauge, type Registry } from "prom-client";
import { leaseNames } from "./leadership.ts";
import { type MeasuredCaches, measureCaches } from "./metrics/cache-metrics.ts";
import { measureControllers } from "./metrics/controller-metrics.ts";

/** What every process has, whether it leads or not. */
export interface MeasuredManager {
  readonly caches: MeasuredCaches;
  readonly controllers: Parameters<typeof measureControllers>[1];
  /** Absent: there is no leader election. */
  readonly leadership?: object | undefined;
  readonly isLeading: () => boolean;
}

/**
 * Adds the metrics of queues, reconciles, caches and leadership: where their numbers are read, and nowhere else.
 */
export function measureManager(
  registry: Registry,
  { caches, controllers, leadership, isLeading }: MeasuredManager,
): void {
  measureControllers(registry, controllers);
  measureCaches(registry, caches);
  if (leadership !== undefined) measureLeadership(registry, isLeading);
}

function measureLeadership(registry: Registry, isLeading: () => boolean): void {
  const gauge = new Gauge({
    name: controllerMetricNames.leader,
    help: "Whether this process leads.",
    labelNames: ["name"],
    registers: [registry],
    collect() {
      for (const name of leaseNames) gauge.set({ name }, isLeading() ? 1 : 0);
    },
  });
}
