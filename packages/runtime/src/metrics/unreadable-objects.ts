import { type ControlCaches, shapeProblemsOf } from "@millwright/controllers";
import { ownMetricNames } from "@millwright/core/machine-api";
import { Gauge, type Registry } from "prom-client";

/** The caches of our kinds. */
type KindCaches = {
  readonly [Kind in "machines" | "sets" | "deployments" | "classes"]: Pick<ControlCaches[Kind], "store" | "hasSynced">;
};

/**
 * Adds the gauge of objects that cannot be read at the moment; counted at each scrape, so that a fixed object does not count any more. A kind without its first list has no
 * value.
 */
export function measureUnreadableObjects(registry: Registry, namespace: string, caches: KindCaches): void {
  const kinds = {
    Machine: caches.machines,
    MachineSet: caches.sets,
    MachineDeployment: caches.deployments,
    MachineClass: caches.classes,
  };
  const gauge = new Gauge({
    name: ownMetricNames.unreadableObjects,
    help: "Objects that cannot be read: fields have a wrong type.",
    labelNames: ["kind", "namespace"],
    registers: [registry],
    collect() {
      for (const [kind, { store, hasSynced }] of Object.entries(kinds)) {
        const objects: readonly object[] = store.list();
        const unreadable = objects.filter((object) => shapeProblemsOf(object).length > 0);
        if (hasSynced()) gauge.set({ kind, namespace }, unreadable.length);
      }
    },
  });
}
