import type { Clock } from "@millwright/base";
import { eventReasons } from "@millwright/core/machine-api";
import type { EventRecorder, Log } from "@millwright/kube";
import { clockAgrees, clockDiffers, clockEventMs } from "../describe/clock-skew-texts.ts";
import type { ServerTimes } from "../metrics/clock-skew.ts";
import { namespaceObject } from "./namespace-object.ts";

/** Interval of the checks, milliseconds. They cost no request. */
const CHECK_MS = 20_000;

/** Hosts that synchronize their clocks differ by milliseconds. The same bound as that of `millwright doctor`. */
const WARN_MS = 5_000;

/** Clocks agree again below this difference, milliseconds: one that is close to the limit is reported once. */
const AGREE_MS = 4_000;

/** What {@link reportClockSkew} reports to. */
export interface ClockSkewReports {
  readonly namespace: string;
  readonly events: Pick<EventRecorder, "record">;
  readonly log: Log;
  /** Events are recorded by the leader only: another process may not write. */
  readonly isLeading: () => boolean;
}

/** A clock skew that is reported. */
interface Skew {
  /** The same in all events about it, which are one event then. */
  readonly message: string;
  /** When the event was recorded last, by the monotonic clock. */
  recordedMs?: number;
}

/**
 * Logs once when the local clock and that of an API server differ by more than five seconds, and once when they agree again, and records both as events on the namespace. Resolves when the
 * signal aborts; never rejects.
 */
export async function reportClockSkew(
  times: ServerTimes,
  clock: Pick<Clock, "sleep" | "monotonicMs">,
  { namespace, events, log, isLeading }: ClockSkewReports,
  signal: AbortSignal,
): Promise<void> {
  const skews = new Map<string, Skew>();
  const record = (type: "Normal" | "Warning", reason: string, message: string): void =>
    events.record(namespaceObject(namespace), { type, reason, message });

  const begin = (cluster: string, aheadMs: number): void => {
    const aheadSeconds = Math.round(aheadMs / 1_000);
    skews.set(cluster, { message: clockDiffers(cluster, aheadSeconds) });
    log("warn", "The local clock differs from that of an API server; timeouts use the time of the API server", {
      cluster,
      aheadSeconds,
    });
  };
  const end = (cluster: string, { recordedMs }: Skew): void => {
    skews.delete(cluster);
    log("info", "The local clock agrees with that of the API server again", { cluster });
    if (recordedMs !== undefined && isLeading()) record("Normal", eventReasons.clockSkewEnded, clockAgrees(cluster));
  };
  const check = (cluster: string, aheadMs: number): void => {
    const before = skews.get(cluster);
    if (before === undefined && Math.abs(aheadMs) > WARN_MS) begin(cluster, aheadMs);
    if (before !== undefined && Math.abs(aheadMs) < AGREE_MS) end(cluster, before);
    const skew = skews.get(cluster);
    const nowMs = clock.monotonicMs();
    if (skew === undefined || !isLeading() || nowMs - (skew.recordedMs ?? Number.NEGATIVE_INFINITY) < clockEventMs)
      return;
    skew.recordedMs = nowMs;
    record("Warning", eventReasons.clockSkew, skew.message);
  };

  while (!signal.aborted) {
    for (const [cluster, time] of Object.entries(times)) check(cluster, time?.aheadMs() ?? 0);
    await clock.sleep(CHECK_MS, signal).catch(() => undefined);
  }
}
