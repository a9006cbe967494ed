import { ownMetricNames } from "@millwright/core/machine-api";
import type { ServerTime } from "@millwright/kube";
import { Gauge, type Registry } from "prom-client";

/** The times of the API servers, by the name of the cluster; undefined where it is not known. */
export type ServerTimes = Readonly<Record<string, Pick<ServerTime, "aheadMs"> | undefined>>;

/** Adds the gauge of clock skew; computed at each scrape. A cluster whose server has sent no time yet has no value. */
export function measureClockSkew(registry: Registry, times: ServerTimes): void {
  const gauge = new Gauge({
    name: ownMetricNames.clockSkewSeconds,
    help: "Seconds by which the local clock is ahead of that of an API server.",
    labelNames: ["api_server"],
    registers: [registry],
    collect() {
      for (const [cluster, time] of Object.entries(times)) {
        const aheadMs = time?.aheadMs();
        if (aheadMs !== undefined) gauge.set({ api_server: cluster }, aheadMs / 1_000);
      }
    },
  });
}
