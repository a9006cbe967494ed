import {
  type ControlCaches,
  type CrdGuard,
  isProtected,
  markedStage,
  ownersOfMachine,
  protectorOf,
} from "@millwright/controllers";
import { type Machine, type MachineKind, ownMetricNames } from "@millwright/core/machine-api";
import { Gauge, type Registry } from "prom-client";

type Caches = Pick<ControlCaches, "machines" | "sets" | "deployments">;
type Counts = Readonly<Partial<Record<MachineKind, number>>>;

/** A gauge by kind that is counted at each scrape. `millwright_held_objects` has the same for all holds. */
function measure(
  { registry, namespace }: { readonly registry: Registry; readonly namespace: string },
  name: string,
  help: string,
  count: () => Counts,
): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: ["namespace", "kind"],
    registers: [registry],
    collect() {
      for (const [kind, value] of Object.entries(count())) gauge.set({ namespace, kind }, value);
    },
  });
}

/** Adds the gauge of deletions that are paused because a CustomResourceDefinition is being deleted. A deletion whose cause is not known yet does not count. */
export function measurePausedDeletions(
  registry: Registry,
  namespace: string,
  crdGuard: Pick<CrdGuard, "deletionVerdictOf">,
  { machines, sets, deployments }: Caches,
): void {
  const isPaused = (...object: Parameters<CrdGuard["deletionVerdictOf"]>): boolean =>
    crdGuard.deletionVerdictOf(...object).verdict === "paused";
  const help = "Terminating objects whose deletion is paused because a CustomResourceDefinition was deleted.";
  measure({ registry, namespace }, ownMetricNames.pausedDeletions, help, () => ({
    // A deletion that had started continues.
    Machine: machines.store
      .list()
      .filter((each) => isPaused("Machine", each, markedStage({ machine: each }) !== undefined)).length,
    MachineSet: sets.store.list().filter((each) => isPaused("MachineSet", each, false)).length,
    MachineDeployment: deployments.store.list().filter((each) => isPaused("MachineDeployment", each, false)).length,
  }));
}

/** Adds the gauge of terminating objects that deletion protection keeps. A machine whose VM was deleted before does not count. */
export function measureProtectedDeletions(registry: Registry, namespace: string, caches: Caches): void {
  const isKept = (machine: Machine): boolean => {
    if (machine.metadata.deletionTimestamp == null) return false;
    const stage = markedStage({ machine });
    if (stage === "DeleteNode" || stage === "RemoveFinalizer") return false;
    return protectorOf(machine, ownersOfMachine(machine, { caches, namespace })) !== undefined;
  };
  const help = "Terminating objects that deletion protection keeps.";
  measure({ registry, namespace }, ownMetricNames.protectedDeletions, help, () => ({
    Machine: caches.machines.store.list().filter(isKept).length,
    MachineDeployment: caches.deployments.store
      .list()
      .filter((deployment) => deployment.metadata.deletionTimestamp != null && isProtected(deployment)).length,
  }));
}
