import { type ControlCaches, isProtected, markedStage, ownersOfMachine, protectorOf } from "@millwright/controllers";
import { type Machine, ownMetricNames } from "@millwright/core";
import { Gauge, type Registry } from "prom-client";

/** Adds the gauge of terminating objects that deletion protection keeps; counted at each scrape. A machine whose VM was deleted before does not count. */
export function measureProtectedDeletions(
  registry: Registry,
  namespace: string,
  caches: Pick<ControlCaches, "machines" | "sets" | "deployments">,
): void {
  const isKept = (machine: Machine): boolean => {
    if (machine.metadata.deletionTimestamp == null) return false;
    const stage = markedStage({ machine });
    if (stage === "DeleteNode" || stage === "RemoveFinalizer") return false;
    return protectorOf(machine, ownersOfMachine(machine, { caches, namespace })) !== undefined;
  };
  const gauge = new Gauge({
    name: ownMetricNames.protectedDeletions,
    help: "Terminating objects that deletion protection keeps.",
    labelNames: ["namespace", "kind"],
    registers: [registry],
    collect() {
      const deployments = caches.deployments.store
        .list()
        .filter((deployment) => deployment.metadata.deletionTimestamp != null && isProtected(deployment));
      gauge.set({ namespace, kind: "Machine" }, caches.machines.store.list().filter(isKept).length);
      gauge.set({ namespace, kind: "MachineDeployment" }, deployments.length);
    },
  });
}
