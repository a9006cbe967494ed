import { systemClock } from "@millwright/base";
import { collectDefaultMetrics, Registry } from "prom-client";
import { type MetricParts, readRegistry } from "./metric-parts.ts";
import { type MeasuredClient, measureRequests } from "./request-metrics.ts";

/** Resolution of the delays of the event loop, milliseconds: a timer behind it runs that often. With 20 ms it takes a third of the CPU of an idle process. */
const RESOLUTION_MS = 100;

/**
 * Measures this process: CPU, memory, file descriptors, event loop, garbage collections, and the requests of its clients. To be called once in a process: what it starts ends with that.
 *
 * @param clients those of the clusters, which may be the same, or absent
 * @returns reads the metrics
 */
export function measureProcess(clients: readonly (MeasuredClient | undefined)[]): () => MetricParts {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RESOLUTION_MS });
  measureRequests(registry, [...new Set(clients.filter((client) => client !== undefined))]);
  return () => readRegistry(registry, { clock: systemClock });
}
