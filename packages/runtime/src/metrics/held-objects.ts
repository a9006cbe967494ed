import { type ControlCaches, countHeld, type Guard } from "@millwright/controllers";
import { type Machine, ownMetricNames } from "@millwright/core/machine-api";
import { Gauge, type Registry } from "prom-client";

/** Adds the gauge of objects that are held, whatever holds them; counted at each scrape. */
export function measureHeldObjects(
  registry: Registry,
  namespace: string,
  guards: readonly Guard<Machine>[],
  caches: Pick<ControlCaches, "machines" | "sets" | "deployments">,
): void {
  const gauge = new Gauge({
    name: ownMetricNames.heldObjects,
    help: "Objects that are not acted on, by what holds them.",
    labelNames: ["namespace", "by", "kind"],
    registers: [registry],
    collect() {
      for (const { by, kind, count } of countHeld(guards, caches)) gauge.set({ namespace, by, kind }, count);
    },
  });
}
