import type { ControlCaches } from "@millwright/controllers";
import {
  machineDeploymentMetricNames,
  machineMetricNames,
  machineSetMetricNames,
  processMetricNames,
} from "@millwright/core";
import { Counter, type Registry } from "prom-client";
import { machineDeploymentGauges } from "./machine-deployment-gauges.ts";
import { machineGauges } from "./machine-gauges.ts";
import { machineSetGauges } from "./machine-set-gauges.ts";
import { measureObjects } from "./object-gauges.ts";

/** Adds the metrics of machines, sets and deployments, with MCM's names. To be called by the one process that leads: sums over several would count everything twice. */
export function measureFleet(
  registry: Registry,
  {
    machines,
    sets,
    deployments,
  }: { readonly [Kind in "machines" | "sets" | "deployments"]: Pick<ControlCaches[Kind], "store" | "hasSynced"> },
): void {
  const failures = new Counter({
    name: processMetricNames.scrapeFailures,
    help: "Objects that could not be measured.",
    labelNames: ["kind"],
    registers: [registry],
  });
  const failed = (kind: string): (() => void) => {
    failures.inc({ kind }, 0);
    return () => failures.inc({ kind });
  };
  measureObjects(
    registry,
    {
      cache: machines,
      items: { name: machineMetricNames.items, help: "How many Machines there are." },
      gauges: machineGauges,
    },
    failed("Machine-count"),
  );
  measureObjects(
    registry,
    {
      cache: sets,
      items: { name: machineSetMetricNames.items, help: "How many MachineSets there are." },
      gauges: machineSetGauges,
    },
    failed("Machineset-count"),
  );
  measureObjects(
    registry,
    {
      cache: deployments,
      items: { name: machineDeploymentMetricNames.items, help: "How many MachineDeployments there are." },
      gauges: machineDeploymentGauges,
    },
    failed("Machinedeployment-count"),
  );
}
