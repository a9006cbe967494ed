import type { ControlCaches } from "@millwright/controllers";
import {
  machineDeploymentMetricNames,
  machineMetricNames,
  machineSetMetricNames,
  processMetricNames,
} from "@millwright/core/machine-api";
import { Counter, type Registry } from "prom-client";
import { machineDeploymentGauges } from "./machine-deployment-gauges.ts";
import { machineGauges } from "./machine-gauges.ts";
import { machineSetGauges } from "./machine-set-gauges.ts";
import { writeObjectMetrics } from "./object-gauges.ts";

/** The caches of the objects that are measured. */
type FleetCaches = {
  readonly [Kind in "machines" | "sets" | "deployments"]: Pick<ControlCaches[Kind], "store" | "hasSynced">;
};

/**
 * The metrics of machines, sets and deployments as they are, with MCM's names.
 *
 * @param registry gets the counter of what could not be measured
 * @returns pieces of their text, which is long for large fleets
 */
export function measureFleet(registry: Registry, caches: FleetCaches): () => Iterable<string> {
  const failures = new Counter({
    name: processMetricNames.scrapeFailures,
    help: "Objects that could not be measured.",
    labelNames: ["kind"],
    registers: [registry],
  });
  const countFailuresOf = (kind: string): (() => void) => {
    failures.inc({ kind }, 0);
    return () => failures.inc({ kind });
  };
  const machines = {
    cache: caches.machines,
    items: { name: machineMetricNames.items, help: "How many Machines there are." },
    gauges: machineGauges,
    onFailure: countFailuresOf("Machine-count"),
  };
  const sets = {
    cache: caches.sets,
    items: { name: machineSetMetricNames.items, help: "How many MachineSets there are." },
    gauges: machineSetGauges,
    onFailure: countFailuresOf("Machineset-count"),
  };
  const deployments = {
    cache: caches.deployments,
    items: { name: machineDeploymentMetricNames.items, help: "How many MachineDeployments there are." },
    gauges: machineDeploymentGauges,
    onFailure: countFailuresOf("Machinedeployment-count"),
  };
  return function* writeFleet() {
    yield* writeObjectMetrics(machines);
    yield* writeObjectMetrics(sets);
    yield* writeObjectMetrics(deployments);
  };
}
