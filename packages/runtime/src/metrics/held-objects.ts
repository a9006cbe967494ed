import { type ControlCaches, type CrdGuard, markedStage } from "@millwright/controllers";
import { ownMetricNames } from "@millwright/core";
import { Gauge, type Registry } from "prom-client";

/**
 * Adds the gauge of what is held because a CustomResourceDefinition is being deleted; counted when somebody reads it. A
 * deletion of which nobody knows yet whether it is meant does not count.
 */
export function measureHeldObjects(
  registry: Registry,
  definitions: Pick<CrdGuard, "holdOf">,
  { machines, sets, deployments }: Pick<ControlCaches, "machines" | "sets" | "deployments">,
): void {
  const gauge = new Gauge({
    name: ownMetricNames.pausedDeletions,
    help: "Objects on their way out that are kept because a CustomResourceDefinition was deleted.",
    labelNames: ["kind"],
    registers: [registry],
    collect() {
      const held = {
        // A deletion that had begun goes on.
        Machine: machines.store
          .list()
          .map((machine) => definitions.holdOf("Machine", machine, markedStage({ machine }) !== undefined)),
        MachineSet: sets.store.list().map((set) => definitions.holdOf("MachineSet", set, false)),
        MachineDeployment: deployments.store
          .list()
          .map((deployment) => definitions.holdOf("MachineDeployment", deployment, false)),
      };
      for (const [kind, holds] of Object.entries(held))
        gauge.set({ kind }, holds.filter(({ verdict }) => verdict === "held").length);
    },
  });
}
