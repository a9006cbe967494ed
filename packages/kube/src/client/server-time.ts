import type { Clock } from "@millwright/base";

/**
 * The clock of an API server, estimated from the header `Date` of its responses, without requests of its own. Times in objects come from that clock
 * and must be compared with it: the clock of this host may be off by hours.
 */
export interface ServerTime {
  /** The time of the server; the local time before the first response that has one. Never affected by a jump of the local clock. */
  now(): Date;
  /** By how much the local clock is ahead of the server's, milliseconds; negative when it is behind, 0 when both may agree. Undefined before the first response with a time. */
  aheadMs(): number | undefined;
}

/** The writing side of a {@link ServerTime}, used by the transport of a client. */
export interface ServerTimeRecord extends ServerTime {
  /** A response, sent and received at these times of `Clock.monotonicMs`, with its headers `Date` and `Age`. */
  answered(response: {
    readonly sentMs: number;
    readonly receivedMs: number;
    readonly date: string | undefined;
    readonly age?: string | undefined;
  }): void;
}

/** The header `Date` has whole seconds, rounded down. */
const roundingMs = 1_000;

/** How much two clocks may diverge per millisecond: the rate at which NTP slews one. */
const driftRate = 0.000_5;

/** So many consecutive responses that contradict the estimate, and agree with each other, replace it: one may come from another server behind a load balancer. */
const readingsToReplace = 3;

/** Bounds of the server's time minus the monotonic clock, milliseconds, as of `atMs`. */
interface Bounds {
  readonly atMs: number;
  readonly least: number;
  readonly most: number;
}

const widened = ({ atMs, least, most }: Bounds, nowMs: number): Bounds => {
  const drift = Math.max(0, nowMs - atMs) * driftRate;
  return { atMs: nowMs, least: least - drift, most: most + drift };
};

/** What two bounds have in common; undefined when they contradict each other. */
function intersection(a: Bounds, b: Bounds): Bounds | undefined {
  const [least, most] = [Math.max(a.least, b.least), Math.min(a.most, b.most)];
  return least > most ? undefined : { atMs: b.atMs, least, most };
}

/**
 * Creates an estimate without readings. Each response bounds the difference of the clocks by its round trip and its rounding; a slow response has wide
 * bounds and so changes nothing. The bounds of all responses are intersected, and widen slowly in between.
 */
export function createServerTime(clock: Pick<Clock, "now" | "monotonicMs">): ServerTimeRecord {
  let known: Bounds | undefined;
  /** Bounds of consecutive responses that contradict `known`. */
  let contradicting: { readonly bounds: Bounds; readonly readings: number } | undefined;

  /** The local clock minus the monotonic one, and the value closest to it that is within the bounds. */
  function offsets(): { readonly local: number; readonly server: number } {
    const nowMs = clock.monotonicMs();
    const local = clock.now().getTime() - nowMs;
    if (known === undefined) return { local, server: local };
    const { least, most } = widened(known, nowMs);
    return { local, server: Math.min(most, Math.max(least, local)) };
  }

  return {
    now: () => new Date(clock.monotonicMs() + offsets().server),
    aheadMs() {
      if (known === undefined) return undefined;
      const { local, server } = offsets();
      return local - server;
    },
    answered({ sentMs, receivedMs, date, age }) {
      const time = Date.parse(date ?? "");
      // A cached response has the time at which it was cached.
      if (Number.isNaN(time) || Number(age ?? 0) > 0) return;
      const reading: Bounds = { atMs: receivedMs, least: time - receivedMs, most: time + roundingMs - sentMs };
      const agreed = known === undefined ? reading : intersection(widened(known, receivedMs), reading);
      if (agreed !== undefined) {
        known = agreed;
        contradicting = undefined;
        return;
      }
      const both =
        contradicting === undefined ? undefined : intersection(widened(contradicting.bounds, receivedMs), reading);
      const readings = both === undefined ? 1 : (contradicting?.readings ?? 0) + 1;
      contradicting = { bounds: both ?? reading, readings };
      if (readings < readingsToReplace) return;
      known = contradicting.bounds;
      contradicting = undefined;
    },
  };
}

/** The clock with the time of an API server: for comparisons with times in its objects. Durations stay those of the local monotonic clock. */
export const serverClock = (clock: Clock, time: Pick<ServerTime, "now"> | undefined): Clock =>
  time === undefined
    ? clock
    : {
        now: () => time.now(),
        monotonicMs: () => clock.monotonicMs(),
        sleep: (ms, signal) => clock.sleep(ms, signal),
        setTimer: (ms, run) => clock.setTimer(ms, run),
      };
