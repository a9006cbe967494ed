import { ownMetricNames } from "@millwright/core";
import { Counter, type Registry } from "prom-client";

/** Adds the counter of lists of VMs that failed or proved nothing. Returns what counts one. */
export function countFailedVmLists(registry: Registry, namespace: string): (className: string, reason: string) => void {
  const counter = new Counter({
    name: ownMetricNames.failedVmLists,
    help: "Lists of the VMs of a MachineClass that failed, or lacked most VMs.",
    labelNames: ["namespace", "machine_class", "reason"],
    registers: [registry],
  });
  return (className, reason) => counter.inc({ namespace, machine_class: className, reason });
}
