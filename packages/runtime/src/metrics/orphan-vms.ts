import { type ControlCaches, readQuarantine } from "@millwright/controllers";
import { ownMetricNames } from "@millwright/core/machine-api";
import { Gauge, type Registry } from "prom-client";

/** Adds the gauge of VMs without Machine that are in quarantine, by the records on their classes; counted at each scrape. */
export function measureOrphanVms(
  registry: Registry,
  namespace: string,
  { classes }: Pick<ControlCaches, "classes">,
): void {
  const gauge = new Gauge({
    name: ownMetricNames.orphanVms,
    help: "VMs without Machine that are in quarantine.",
    labelNames: ["namespace", "machine_class"],
    registers: [registry],
    collect() {
      gauge.reset();
      for (const machineClass of classes.store.list())
        gauge.set({ namespace, machine_class: machineClass.metadata.name }, readQuarantine(machineClass).vms.size);
    },
  });
}
