import { controllerMetricNames, type LeaseName } from "@millwright/core/machine-api";
import type { Registry } from "prom-client";
import { type MeasuredCaches, measureCaches } from "../metrics/cache-metrics.ts";
import { measureControllers } from "../metrics/controller-metrics.ts";
import { registerIn } from "../metrics/register.ts";

/** What every process has, whether it leads or not. */
export interface MeasuredManager {
  readonly caches: MeasuredCaches;
  readonly controllers: Parameters<typeof measureControllers>[1];
  /** Absent: there is no leader election. */
  readonly leadership?: object | undefined;
  /** The Leases that a leader holds. */
  readonly leases: readonly LeaseName[];
  readonly isLeading: () => boolean;
}

/**
 * Adds the metrics of queues, reconciles, caches and leadership: where their numbers are read, and nowhere else.
 */
export function measureManager(
  registry: Registry,
  { caches, controllers, leadership, leases, isLeading }: MeasuredManager,
): void {
  measureControllers(registry, controllers);
  measureCaches(registry, caches);
  if (leadership !== undefined) measureLeadership(registry, leases, isLeading);
}

function measureLeadership(registry: Registry, leases: readonly LeaseName[], isLeading: () => boolean): void {
  registerIn(registry).gauge(controllerMetricNames.leader, "Whether this process leads.", ["name"], () =>
    leases.map((name) => [{ name }, Number(isLeading())]),
  );
}
