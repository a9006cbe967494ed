import type { Clock, Random, Timer } from "@millwright/base";
import { backoffDelay } from "../backoff.ts";
import type { BackoffOptions } from "../backoff.ts";
import { createQueueMeter } from "./queue-meter.ts";
import type { KeyInProgress, QueueObserver, QueueTimes } from "./queue-meter.ts";
import { createReadyLine } from "./ready-line.ts";
import type { Priority } from "./ready-line.ts";

/** Options of {@link createQueue}. */
export interface QueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Delays of {@link Queue.addWithBackoff}. Default 500 ms up to 5 min. */
  readonly backoff?: BackoffOptions | undefined;
  readonly observer?: QueueObserver | undefined;
}

/** Numbers of a queue, for metrics. */
export interface QueueCounts extends QueueTimes {
  /** Keys that are ready and wait for a worker. */
  readonly ready: number;
  /** Those of them that are `routine`; the others are changes. */
  readonly readyRoutine: number;
  /** Keys that a worker has. */
  readonly processing: number;
  /** Keys whose time has not come. */
  readonly delayed: number;
  /** Keys that failed and were not forgotten. */
  readonly failing: number;
  /** Keys that became ready, since the start. */
  readonly adds: number;
  /** Calls of `addWithBackoff`, since the start. */
  readonly retries: number;
}

/**
 * A work queue of keys with the semantics of client-go's `util/workqueue`:
 *
 * - fair: keys come out in the order in which they became ready, changes before routine, and neither starves the other
 *   (see `createReadyLine`);
 * - stingy: a key that is added several times before it is taken comes out once;
 * - never the same key with two workers; a key that is added while a worker has it comes out again after `done`;
 * - no key is ever dropped, however often it failed.
 *
 * Not promised: when exactly a delayed key comes out (not before its time), or which worker gets it.
 */
export interface Queue {
  /** Makes a key ready; of several priorities the higher counts. Default `change`. Does nothing after `shutDown`. */
  readonly add: (key: string, priority?: Priority) => void;
  /** Makes a key ready after a time, milliseconds, as `routine`. Of several such times the earliest counts. */
  addAfter(key: string, ms: number): void;
  /**
   * Makes a key ready, as `routine`, after a delay that doubles with each call until `forget`, and is not shorter than `atLeastMs`. Returns
   * the delay, milliseconds.
   */
  addWithBackoff(key: string, atLeastMs?: number): number;
  /** The key succeeded: its next backoff starts small again. Does not take it out of the queue. */
  forget(key: string): void;
  /** How often the key was added with backoff since it was last forgotten. */
  failures(key: string): number;
  /**
   * The next key, as soon as there is one. The caller must call `done` for it, whatever happens.
   *
   * @returns undefined when the queue was shut down and has nothing more that is ready
   * @throws the reason of the signal when that aborts first; no key is lost by it
   */
  take(signal?: AbortSignal): Promise<string | undefined>;
  /** The worker has finished with the key. */
  done(key: string): void;
  /** Accepts nothing more and forgets delayed keys; what is ready is still given out. Resolves when no worker has a key. */
  shutDown(): Promise<void>;
  /** Keys that are ready. */
  readonly length: number;
  counts(): QueueCounts;
  /** The keys that workers have, the longest first. */
  inProgress(): readonly KeyInProgress[];
}

interface Waiter {
  readonly give: (key: string | undefined) => void;
}

/** Makes an empty queue. */
export function createQueue(options: QueueOptions): Queue {
  const { clock, random } = options;
  const backoff = options.backoff ?? { initialMs: 500, maxMs: 5 * 60_000 };

  /** Ready to be taken. Every key here is in `dirty` and not in `processing`. */
  const ready = createReadyLine();
  /** Needs to be processed. A key that is here but not in `ready` is in `processing`, and becomes ready when it is done. */
  const dirty = new Map<string, Priority>();
  /** With a worker. A key may be here and in `dirty` at once: it changed while it was worked on. */
  const processing = new Set<string>();
  /** Becomes dirty at `due` on the monotonic clock. One timer for each key, the earliest that was asked for. */
  const delayed = new Map<string, { readonly due: number; readonly timer: Timer }>();
  /** Failures in a row. Every count is at least 1. */
  const failures = new Map<string, number>();
  /** Workers that wait. Not empty only while `ready` is empty. */
  const waiters = new Set<Waiter>();
  const meter = createQueueMeter(clock, options.observer);
  const drained = Promise.withResolvers<void>();
  let shuttingDown = false;
  let adds = 0;
  let retries = 0;

  function makeReady(key: string, priority: Priority): void {
    adds++;
    ready.add(key, priority);
    meter.becameReady(key);
    for (const waiter of waiters) {
      waiters.delete(waiter);
      waiter.give(startNext());
      return;
    }
  }

  function startNext(): string | undefined {
    const key = ready.next();
    if (key === undefined) return undefined;
    dirty.delete(key);
    processing.add(key);
    meter.wasTaken(key);
    return key;
  }

  function add(key: string, priority: Priority = "change"): void {
    const known = dirty.get(key);
    if (shuttingDown || known === "change" || known === priority) return;
    dirty.set(key, priority);
    if (processing.has(key)) return;
    if (known === undefined) makeReady(key, priority);
    else ready.add(key, priority);
  }

  function addAfter(key: string, ms: number): void {
    if (shuttingDown) return;
    if (!(ms > 0)) return add(key, "routine");
    const due = clock.monotonicMs() + ms;
    const known = delayed.get(key);
    if (known !== undefined && known.due <= due) return;
    known?.timer.cancel();
    const timer = clock.setTimer(ms, () => {
      delayed.delete(key);
      add(key, "routine");
    });
    delayed.set(key, { due, timer });
  }

  function endWhenDrained(): void {
    if (!shuttingDown || ready.size > 0 || processing.size > 0) return;
    drained.resolve();
    for (const waiter of waiters) waiter.give(undefined);
    waiters.clear();
  }

  return {
    add,
    addAfter,
    addWithBackoff(key, atLeastMs = 0) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      retries++;
      const delay = Math.max(atLeastMs, backoffDelay(count, backoff, random));
      addAfter(key, delay);
      return delay;
    },
    forget: (key) => void failures.delete(key),
    failures: (key) => failures.get(key) ?? 0,
    take(signal) {
      if (signal?.aborted === true) return Promise.reject(signal.reason);
      const key = startNext();
      if (key !== undefined || (shuttingDown && processing.size === 0)) return Promise.resolve(key);
      return new Promise((resolve, reject) => {
        const abort = () => {
          waiters.delete(waiter);
          reject(signal?.reason);
        };
        const waiter: Waiter = {
          give: (given) => {
            signal?.removeEventListener("abort", abort);
            resolve(given);
          },
        };
        waiters.add(waiter);
        signal?.addEventListener("abort", abort, { once: true });
      });
    },
    done(key) {
      if (!processing.delete(key)) return;
      meter.wasDone(key);
      const priority = dirty.get(key);
      if (priority !== undefined) makeReady(key, priority);
      endWhenDrained();
    },
    shutDown() {
      shuttingDown = true;
      for (const { timer } of delayed.values()) timer.cancel();
      delayed.clear();
      endWhenDrained();
      return drained.promise;
    },
    inProgress: meter.inProgress,
    get length() {
      return ready.size;
    },
    counts: () => ({
      ...meter.times(),
      ready: ready.size,
      readyRoutine: ready.sizeOf("routine"),
      processing: processing.size,
      delayed: delayed.size,
      failing: failures.size,
      adds,
      retries,
    }),
  };
}
