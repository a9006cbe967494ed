import { type ControlCaches, type CrdGuard, markedStage } from "@millwright/controllers";
import { ownMetricNames } from "@millwright/core";
import { Gauge, type Registry } from "prom-client";

/**
 * Adds the gauge of deletions that are paused because a CustomResourceDefinition is being deleted; counted at each scrape. A
 * deletion whose cause is not known yet does not count.
 */
export function measurePausedDeletions(
  registry: Registry,
  namespace: string,
  crdGuard: Pick<CrdGuard, "deletionVerdictOf">,
  { machines, sets, deployments }: Pick<ControlCaches, "machines" | "sets" | "deployments">,
): void {
  const gauge = new Gauge({
    name: ownMetricNames.pausedDeletions,
    help: "Terminating objects whose deletion is paused because a CustomResourceDefinition was deleted.",
    labelNames: ["namespace", "kind"],
    registers: [registry],
    collect() {
      const verdicts = {
        // A deletion that had started continues.
        Machine: machines.store
          .list()
          .map((machine) => crdGuard.deletionVerdictOf("Machine", machine, markedStage({ machine }) !== undefined)),
        MachineSet: sets.store.list().map((set) => crdGuard.deletionVerdictOf("MachineSet", set, false)),
        MachineDeployment: deployments.store
          .list()
          .map((deployment) => crdGuard.deletionVerdictOf("MachineDeployment", deployment, false)),
      };
      for (const [kind, ofKind] of Object.entries(verdicts))
        gauge.set({ namespace, kind }, ofKind.filter(({ verdict }) => verdict === "paused").length);
    },
  });
}
