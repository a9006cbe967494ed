import { ConfigError } from "@millwright/base";
import type { Driver } from "@millwright/core";
import { isDriverFor } from "@millwright/core/driver-host";
import type { Registry } from "prom-client";
import { createDriverHost, type DriverHost } from "../drivers/driver-host.ts";
import { createRunningCalls, type RunningCalls } from "../drivers/running-calls.ts";
import { strayErrorCounts } from "../drivers/stray-errors.ts";
import { createEndedCalls, type EndedCalls } from "../fleet/ended-calls.ts";
import { createDriverMetrics } from "../metrics/driver-metrics.ts";
import type { ManagerClusters } from "./manager-clusters.ts";
import type { ManagerOptions } from "./manager-options.ts";
import type { WriteFence } from "./write-fence.ts";

/** The drivers of a manager, and their calls. */
export interface ManagerDrivers {
  /** Those that are there now: it grows with {@link ManagerDrivers.add}. */
  readonly all: readonly Driver[];
  readonly host: DriverHost;
  readonly running: RunningCalls;
  /** The calls that ended since the first call of this function. */
  endedCalls(): EndedCalls;
  /**
   * Adds a driver.
   *
   * @throws ConfigError when there is one of its name
   */
  add(driver: Driver): void;
}

/** Makes the host of the drivers, with its metrics in `registry`. Drivers are called while the fence allows it. */
export function createManagerDrivers(
  { drivers: first, recorder, tracer, onDriverCall }: ManagerOptions,
  { clock, localClock, log }: Pick<ManagerClusters, "clock" | "localClock" | "log">,
  { fence }: Pick<WriteFence, "fence">,
  registry: Registry,
): ManagerDrivers {
  const all = [...first];
  const running = createRunningCalls(localClock, onDriverCall);
  /** Kept from the first call of endedCalls() on. */
  let ended: EndedCalls | undefined;
  const host = createDriverHost({
    drivers: all,
    running,
    metrics: createDriverMetrics(
      registry,
      strayErrorCounts,
      first.map(({ name }) => name),
    ),
    // Clouds sign and expire requests by true time, which the local clock is meant to have.
    clock: localClock,
    log,
    fence,
    onEnd(call) {
      ended?.add(call, clock.now());
      tracer?.called(call, clock.now().getTime());
    },
    ...(recorder === undefined ? {} : { recorder }),
  });
  return {
    all,
    host,
    running,
    endedCalls: () => (ended ??= createEndedCalls()),
    add(added) {
      if (all.some((each) => isDriverFor(each, added.name)))
        throw new ConfigError(`two drivers have the name "${added.name}": name one of them with --provider`);
      all.push(added);
    },
  };
}
