import type { Operations } from "@millwright/controllers";
import { ownMetricNames } from "@millwright/core/machine-api";
import { Gauge, type Registry } from "prom-client";

/** Adds the gauge of credentials whose calls are held back; counted at each scrape. */
export function measureOpenCircuits(
  registry: Registry,
  namespace: string,
  operations: Pick<Operations, "openCircuits">,
): void {
  const gauge = new Gauge({
    name: ownMetricNames.circuitOpen,
    help: "Whether calls with a credential are held back because its cloud refuses them.",
    labelNames: ["namespace", "driver", "secret"],
    registers: [registry],
    collect() {
      gauge.reset();
      for (const { driver, secret } of operations.openCircuits()) gauge.set({ namespace, driver, secret }, 1);
    },
  });
}
