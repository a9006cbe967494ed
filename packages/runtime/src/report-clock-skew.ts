import type { Clock } from "@millwright/core";
import type { Log } from "@millwright/kube";
import type { ServerTimes } from "./metrics/clock-skew.ts";

/** Interval of the checks, milliseconds. They cost no request. */
const CHECK_MS = 5_000;

/** Hosts that synchronize their clocks differ by milliseconds. The same bound as that of `millwright doctor`. */
const WARN_MS = 5_000;

/**
 * Logs once when the local clock and that of an API server differ by more than five seconds, and once when they agree again. Resolves when the signal
 * aborts; never rejects.
 */
export async function reportClockSkew(
  times: ServerTimes,
  clock: Pick<Clock, "sleep">,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const skewed = new Set<string>();
  while (!signal.aborted) {
    for (const [cluster, time] of Object.entries(times)) {
      const aheadMs = time?.aheadMs() ?? 0;
      const isSkewed = Math.abs(aheadMs) > WARN_MS;
      if (isSkewed === skewed.has(cluster)) continue;
      if (isSkewed) {
        skewed.add(cluster);
        const seconds = Math.round(aheadMs / 1_000);
        log("warn", "The local clock differs from that of an API server; timeouts use the time of the API server", {
          cluster,
          aheadSeconds: seconds,
        });
      } else {
        skewed.delete(cluster);
        log("info", "The local clock agrees with that of the API server again", { cluster });
      }
    }
    await clock.sleep(CHECK_MS, signal).catch(() => undefined);
  }
}
