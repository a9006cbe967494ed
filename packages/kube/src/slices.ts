import type { Clock } from "@millwright/base";

/** How something long is cut up. */
export interface SliceOptions {
  readonly clock: Clock;
  /** After this time, milliseconds, the event loop gets its turn. Default 5. */
  readonly sliceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Keeps something long from blocking the event loop. */
export interface Slices {
  /**
   * Undefined while the slice lasts, so that short work costs no await. When it is over: a promise that resolves after a
   * turn of the event loop, with which the next slice starts; it rejects with the reason of the signal when that aborted.
   */
  pauseIfDue(): Promise<void> | undefined;
}

/** Reading the clock costs more than a step does, so it is read only at every n-th. */
const stepsPerLook = 16;

/** Starts the first slice. On a virtual clock that is not advanced a slice never ends. */
export function createSlices(options: SliceOptions): Slices {
  const { clock, signal, sliceMs = 5 } = options;
  let until = clock.monotonicMs() + sliceMs;
  let steps = 0;

  async function pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    until = clock.monotonicMs() + sliceMs;
  }

  return {
    pauseIfDue() {
      if (++steps % stepsPerLook !== 0 || clock.monotonicMs() < until) return undefined;
      return pause();
    },
  };
}

/**
 * As {@link createSlices}, for short pieces of work of several callers that together may take long: a slice starts with the first step after a turn of the event loop. On a virtual
 * clock, which is advanced between turns only, a slice never ends.
 */
export function createTurnSlices({ clock, sliceMs = 5 }: Omit<SliceOptions, "signal">): Slices {
  /** Undefined after a turn of the event loop, until the next step. */
  let until: number | undefined;
  let turn = Promise.resolve();

  function begin(nowMs: number): void {
    until = nowMs + sliceMs;
    turn = new Promise((resolve) =>
      setImmediate(() => {
        until = undefined;
        resolve();
      }),
    );
  }

  return {
    pauseIfDue() {
      const nowMs = clock.monotonicMs();
      if (until === undefined) begin(nowMs);
      if (until === undefined || nowMs < until) return undefined;
      return turn;
    },
  };
}

/**
 * Takes the steps of something long, with a pause for the event loop whenever a slice is over.
 *
 * @throws the reason of the signal when that aborts; the steps so far were taken
 */
export async function runInSlices(steps: Iterator<void>, options: SliceOptions): Promise<void> {
  const slices = createSlices(options);
  while (steps.next().done !== true) {
    const pause = slices.pauseIfDue();
    if (pause !== undefined) await pause;
  }
}
