import type { OperationKind, Operations } from "@millwright/controllers";
import { ownMetricNames } from "@millwright/core/machine-api";
import { Gauge, type Registry } from "prom-client";

const kinds: readonly OperationKind[] = ["create", "initialize", "find", "delete"];
const states = ["waiting", "running", "pending", "failed"] as const;

/** Adds the gauge of operations by their state: how many creations are throttled, for example. Counted at each scrape, among those that are not done. */
export function measureOperations(registry: Registry, operations: Pick<Operations, "unfinished">): void {
  const gauge = new Gauge({
    name: ownMetricNames.operations,
    help: "Operations of machines that call a driver, by their state.",
    labelNames: ["operation", "state"],
    registers: [registry],
    collect() {
      for (const operation of kinds) for (const state of states) gauge.set({ operation, state }, 0);
      const counts = new Map<string, number>();
      for (const { kind, state } of operations.unfinished()) {
        const key = `${kind} ${state}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      for (const [key, count] of counts) {
        const [operation = "", state = ""] = key.split(" ");
        gauge.set({ operation, state }, count);
      }
    },
  });
}
