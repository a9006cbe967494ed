import type { Clock } from "@millwright/base";

/**
 * Memory shared by the election thread and the main thread: until when the process leads.
 * Messages are not sufficient: a main thread that was blocked for a minute would continue its work before it handles them.
 */
export interface SharedTerm {
  /** For the worker. */
  readonly memory: SharedArrayBuffer;
  /** Leads for so many milliseconds from now. */
  extend(ms: number): void;
  end(): void;
  isCurrent(): boolean;
  /** Heartbeat of the main thread. */
  beat(): void;
  /** Milliseconds since the last heartbeat. */
  silenceMs(): number;
}

const cells = { monotonicEnd: 0, wallEnd: 1, beat: 2 } as const;

/**
 * The monotonic clock that all threads of a process share. Not `Clock.monotonicMs`: `performance.now` counts from the
 * start of each thread.
 */
const nowNs = (): bigint => process.hrtime.bigint();
const nsOf = (ms: number): bigint => BigInt(Math.floor(ms * 1e6));

/**
 * Opens the memory, or creates it; initially there is no term.
 *
 * The end is stored in wall time as well, and the earlier one counts: the monotonic clock may not advance while a machine sleeps. A
 * wall clock that is set forward ends a term too early, which is safe.
 */
export function createSharedTerm(clock: Pick<Clock, "now">, memory = new SharedArrayBuffer(24)): SharedTerm {
  const view = new BigInt64Array(memory);
  const wallNow = (): bigint => BigInt(clock.now().getTime());

  return {
    memory,
    extend(ms) {
      Atomics.store(view, cells.wallEnd, wallNow() + BigInt(Math.floor(ms)));
      Atomics.store(view, cells.monotonicEnd, nowNs() + nsOf(ms));
    },
    end() {
      Atomics.store(view, cells.monotonicEnd, 0n);
      Atomics.store(view, cells.wallEnd, 0n);
    },
    isCurrent: () => nowNs() < Atomics.load(view, cells.monotonicEnd) && wallNow() < Atomics.load(view, cells.wallEnd),
    beat: () => void Atomics.store(view, cells.beat, nowNs()),
    silenceMs: () => Number((nowNs() - Atomics.load(view, cells.beat)) / 1_000n) / 1_000,
  };
}
