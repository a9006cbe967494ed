import type { ControlCaches, DefinitionGuard } from "@millwright/controllers";
import { type MachineKind, ownMetricNames } from "@millwright/core";
import type { ApiObject } from "@millwright/kube";
import { Gauge, type Registry } from "prom-client";

/** How many of these objects are on their way out and kept. A deletion of which nobody knows yet whether it is meant does not count. */
const countHeld = (
  definitions: Pick<DefinitionGuard, "holdOf">,
  kind: MachineKind,
  objects: readonly ApiObject[],
): number => objects.filter((object) => definitions.holdOf(kind, object, false).verdict === "held").length;

/** Adds the gauge of what is held because a CustomResourceDefinition is being deleted; counted when somebody reads it. */
export function measureHeldObjects(
  registry: Registry,
  definitions: Pick<DefinitionGuard, "holdOf">,
  { machines, sets, deployments }: Pick<ControlCaches, "machines" | "sets" | "deployments">,
): void {
  const gauge = new Gauge({
    name: ownMetricNames.heldObjects,
    help: "Objects on their way out that are kept because a CustomResourceDefinition was deleted.",
    labelNames: ["kind"],
    registers: [registry],
    collect() {
      gauge.set({ kind: "Machine" }, countHeld(definitions, "Machine", machines.store.list()));
      gauge.set({ kind: "MachineSet" }, countHeld(definitions, "MachineSet", sets.store.list()));
      gauge.set({ kind: "MachineDeployment" }, countHeld(definitions, "MachineDeployment", deployments.store.list()));
    },
  });
}
