import type { Clock } from "@millwright/base";

/** How long keys of a queue wait and are worked on, in plain numbers. */
export interface QueueTimes {
  /** Keys that were taken, since the start. */
  readonly taken: number;
  /** Keys that were done, since the start. */
  readonly finished: number;
  /** How long all keys that were taken had been ready, together, milliseconds. With `taken`: the mean latency. */
  readonly waitedMs: number;
  /** How long all keys that were done had been with a worker, together, milliseconds. */
  readonly workedMs: number;
  /** How long the key that is ready for longest has been, milliseconds; 0 when none is. */
  readonly longestWaitMs: number;
  /** How long the key that is with a worker for longest has been, milliseconds; 0 when none is. Large: a worker is stuck. */
  readonly longestWorkMs: number;
}

/** A key that is with a worker. */
export interface KeyInProgress {
  readonly key: string;
  /** For how long, milliseconds. */
  readonly ms: number;
}

/** Observes each duration, milliseconds, for histograms. Must not throw. */
export interface QueueObserver {
  /** A key was taken this long after it became ready. */
  waited?(ms: number): void;
  /** A key was done this long after it was taken. */
  worked?(ms: number): void;
}

/** Measures a queue. */
export interface QueueMeter {
  becameReady(key: string): void;
  wasTaken(key: string): void;
  wasDone(key: string): void;
  times(): QueueTimes;
  /** The keys that are with a worker, the longest first. */
  inProgress(): readonly KeyInProgress[];
}

/** Makes a meter for a queue that nothing has happened in yet. */
export function createQueueMeter(clock: Clock, observer: QueueObserver = {}): QueueMeter {
  // Invariant: both in the order in which their times began, so that the first entry is the longest.
  const readySince = new Map<string, number>();
  const takenSince = new Map<string, number>();
  const totals = { taken: 0, finished: 0, waitedMs: 0, workedMs: 0 };

  const since = (startMs: number | undefined): number => (startMs === undefined ? 0 : clock.monotonicMs() - startMs);
  const longest = (starts: ReadonlyMap<string, number>): number => since(starts.values().next().value);

  return {
    becameReady(key) {
      readySince.set(key, clock.monotonicMs());
    },
    wasTaken(key) {
      const ms = since(readySince.get(key));
      readySince.delete(key);
      takenSince.set(key, clock.monotonicMs());
      totals.taken++;
      totals.waitedMs += ms;
      observer.waited?.(ms);
    },
    wasDone(key) {
      const ms = since(takenSince.get(key));
      takenSince.delete(key);
      totals.finished++;
      totals.workedMs += ms;
      observer.worked?.(ms);
    },
    inProgress: () => [...takenSince].map(([key, startMs]) => ({ key, ms: since(startMs) })),
    times: () => ({ ...totals, longestWaitMs: longest(readySince), longestWorkMs: longest(takenSince) }),
  };
}
