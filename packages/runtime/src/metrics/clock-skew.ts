import { ownMetricNames } from "@millwright/core/machine-api";
import type { ServerTime } from "@millwright/kube";
import type { Registry } from "prom-client";
import { registerIn } from "./register.ts";

/** The times of the API servers, by the name of the cluster; undefined where it is not known. */
export type ServerTimes = Readonly<Record<string, Pick<ServerTime, "aheadMs"> | undefined>>;

/** Adds the gauge of clock skew. A cluster whose server has sent no time yet has no value. */
export function measureClockSkew(registry: Registry, times: ServerTimes): void {
  const help = "Seconds by which the local clock is ahead of that of an API server.";
  registerIn(registry).gauge(ownMetricNames.clockSkewSeconds, help, ["api_server"], () =>
    Object.entries(times).flatMap(([api_server, time]) => {
      const aheadMs = time?.aheadMs();
      return aheadMs === undefined ? [] : [[{ api_server }, aheadMs / 1_000] as const];
    }),
  );
}
