import { collectDefaultMetrics, Registry } from "prom-client";

/** Resolution of the delays of the event loop, milliseconds: a timer behind it runs that often. */
const RESOLUTION_MS = 20;

/**
 * Measures this process: CPU, memory, file descriptors, event loop, garbage collections. To be called once in a process: what it starts ends with that.
 *
 * @returns reads the metrics, in Prometheus' text format
 */
export function measureProcess(): () => Promise<string> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RESOLUTION_MS });
  return () => registry.metrics();
}
