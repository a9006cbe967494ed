import { type Clock, type Timer, normalizeDelayMs, sleepWith } from "../clock.ts";

/** A clock whose time changes only when it is advanced. */
export interface VirtualClock extends Clock {
  /**
   * Lets `ms` milliseconds pass: fires the timers that fall due, each at its own time and in the order in which they were
   * due and set, and lets the code that they resume run before the next one. Code that sets a new timer meanwhile is served too.
   * Promise chains and I/O callbacks that are ready get their turn before it resolves.
   *
   * Rejects with what a timer threw, and with an error when 100 000 timers fired without time going on, which is an
   * endless loop. Calls that overlap run one after the other.
   */
  advance(ms: number): Promise<void>;
  /** How many timers are set. Zero at the end of a test shows that nothing was left running. */
  pending(): number;
  /** Milliseconds until the next timer is due; undefined when none is set. */
  nextTimerMs(): number | undefined;
}

/** Options of {@link createVirtualClock}. */
export interface VirtualClockOptions {
  /** The wall time to start from; 2026-01-01T00:00:00Z by default. */
  readonly now?: Date;
}

interface PendingTimer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly run: () => void;
}

const timersAtOneInstant = 100_000;

/** One full turn of the event loop: whatever was ready to run has run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A virtual clock for tests and simulations.
 *
 * @example
 * const clock = createVirtualClock();
 * const slept = clock.sleep(60_000);
 * await clock.advance(60_000);
 * await slept;
 */
export function createVirtualClock(options: VirtualClockOptions = {}): VirtualClock {
  const startMs = (options.now ?? new Date("2026-01-01T00:00:00Z")).getTime();
  // In the order in which they fire.
  const timers: PendingTimer[] = [];
  let elapsedMs = 0;
  let sequence = 0;
  let advanced: Promise<void> = Promise.resolve();

  /** Where a timer belongs among those that are set: after all that are due before it, or with it but set before. */
  const placeOf = (timer: PendingTimer): number => {
    let low = 0;
    for (let high = timers.length; low < high;) {
      const middle = (low + high) >>> 1;
      const other = timers[middle];
      const isBefore =
        other !== undefined &&
        (other.dueMs < timer.dueMs || (other.dueMs === timer.dueMs && other.sequence < timer.sequence));
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const setTimer = (ms: number, run: () => void): Timer => {
    const timer: PendingTimer = { dueMs: elapsedMs + normalizeDelayMs(ms), sequence: sequence++, run };
    timers.splice(placeOf(timer), 0, timer);
    return {
      cancel: () => {
        const place = placeOf(timer);
        if (timers[place] === timer) timers.splice(place, 1);
      },
    };
  };

  const advance = async (ms: number): Promise<void> => {
    // What is under way may be about to set its timers.
    await turn();
    const untilMs = elapsedMs + normalizeDelayMs(ms);
    let firedHere = 0;
    for (let [timer] = timers; timer !== undefined && timer.dueMs <= untilMs; [timer] = timers) {
      timers.shift();
      firedHere = timer.dueMs === elapsedMs ? firedHere + 1 : 0;
      if (firedHere > timersAtOneInstant) {
        throw new Error(`virtual clock: ${timersAtOneInstant} timers fired at ${elapsedMs} ms; something loops`);
      }
      elapsedMs = timer.dueMs;
      timer.run();
      await turn();
    }
    elapsedMs = untilMs;
  };

  return Object.freeze({
    now: () => new Date(startMs + elapsedMs),
    monotonicMs: () => elapsedMs,
    setTimer,
    sleep: (ms: number, signal?: AbortSignal) => sleepWith(setTimer, ms, signal),
    advance: (ms: number) => {
      const done = advanced.then(() => advance(ms));
      advanced = done.catch(() => undefined);
      return done;
    },
    pending: () => timers.length,
    nextTimerMs: () => {
      const [timer] = timers;
      return timer === undefined ? undefined : timer.dueMs - elapsedMs;
    },
  });
}
