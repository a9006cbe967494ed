import { controllerMetricNames } from "@millwright/core";
import { Gauge, type Registry } from "prom-client";
import { leaseNames } from "./leadership.ts";
import { type MeasuredCaches, measureCaches } from "./metrics/cache-metrics.ts";
import { measureControllers } from "./metrics/controller-metrics.ts";
import { measureRequests } from "./metrics/request-metrics.ts";

/** What every process has, whether it leads or not. */
export interface MeasuredManager {
  /** Those of the clusters, which may be the same. */
  readonly clients: readonly (Parameters<typeof measureRequests>[1][number] | undefined)[];
  readonly caches: MeasuredCaches;
  readonly controllers: Parameters<typeof measureControllers>[1];
  /** Absent: there is no leader election. */
  readonly leadership?: object | undefined;
  readonly isLeading: () => boolean;
}

/**
 * Adds the metrics of queues, reconciles, caches and requests: where their numbers are read, and nowhere else.
 *
 * @returns ends it
 */
export function measureManager(
  registry: Registry,
  { clients, caches, controllers, leadership, isLeading }: MeasuredManager,
): () => void {
  measureControllers(registry, controllers);
  measureCaches(registry, caches);
  if (leadership !== undefined) measureLeadership(registry, isLeading);
  return measureRequests(registry, [...new Set(clients.filter((client) => client !== undefined))]);
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
