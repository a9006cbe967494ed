import type { ControlCaches } from "@millwright/controllers";
import {
  machineDeploymentMetricNames,
  machineMetricNames,
  machineSetMetricNames,
  processMetricNames,
} from "@millwright/core/machine-api";
import type { Registry } from "prom-client";
import { machineDeploymentGauges } from "./machine-deployment-gauges.ts";
import { machineGauges } from "./machine-gauges.ts";
import { machineSetGauges } from "./machine-set-gauges.ts";
import { writeObjectMetrics } from "./object-gauges.ts";
import { registerIn } from "./register.ts";

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
  const help = "Objects that could not be measured.";
  const failures = registerIn(registry).counter(processMetricNames.scrapeFailures, help, ["kind"]);
  const partsOf = (kind: string, name: string, failureKind: string) => {
    failures.inc({ kind: failureKind }, 0);
    return {
      items: { name, help: `How many ${kind} there are.` },
      onFailure: () => failures.inc({ kind: failureKind }),
    };
  };
  const machines = partsOf("Machines", machineMetricNames.items, "Machine-count");
  const sets = partsOf("MachineSets", machineSetMetricNames.items, "Machineset-count");
  const deployments = partsOf("MachineDeployments", machineDeploymentMetricNames.items, "Machinedeployment-count");
  return function* writeFleet() {
    yield* writeObjectMetrics({ ...machines, cache: caches.machines, gauges: machineGauges });
    yield* writeObjectMetrics({ ...sets, cache: caches.sets, gauges: machineSetGauges });
    yield* writeObjectMetrics({ ...deployments, cache: caches.deployments, gauges: machineDeploymentGauges });
  };
}
