import type { Clock, Random } from "@millwright/base";
import type { BackoffOptions } from "../backoff.ts";
import { isConflict } from "../client/api-error.ts";
import { startDeadline } from "../deadline.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import { createHotLoopGuard } from "./hot-loop-guard.ts";
import type { QueueObserver } from "./queue-meter.ts";
import { createQueue } from "./queue.ts";
import type { Queue } from "./queue.ts";
import type { Priority } from "./ready-line.ts";

/**
 * What became of a key:
 *
 * - `done`: nothing to do until something changes;
 * - `requeueAfterMs`: as done, and look again after that time (milliseconds) at the latest; 0 means at once;
 * - `backOff`: did not succeed, try again after a delay that grows with each time; says why.
 */
export type ReconcileResult =
  | { readonly done: true }
  | { readonly requeueAfterMs: number }
  | { readonly backOff: string };

/** Nothing to do until something changes. */
export const done: ReconcileResult = { done: true };

/**
 * Brings one object to what is wanted. Gets a key, never an event: everything is read from caches as it is now. Must be
 * safe to repeat. What it throws leads to a repetition with backoff; an error with `retryAfterMs` is not repeated sooner.
 *
 * @param signal aborts when the controller stops or the deadline of the pass is over
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/** Options of {@link createController}. */
export interface ControllerOptions {
  /** In log lines and metrics. */
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Keys that are worked on at once. Default 4. */
  readonly workers?: number | undefined;
  /** Work starts when these have synced. */
  readonly waitFor?: readonly SyncedCache[] | undefined;
  /** Default 500 ms up to 5 min. */
  readonly backoff?: BackoffOptions | undefined;
  /** Deadline of one pass, milliseconds. Default 2 min. No pass should come near it: nothing in a pass waits for something slow. */
  readonly timeoutMs?: number | undefined;
  /**
   * Passes of one key within a second; beyond them it waits for the next second. Bounds a loop without end, and bundles the events of a busy object,
   * which is why it is no failure and does not back off. Default 10.
   */
  readonly maxPassesPerSecond?: number | undefined;
  /** Told how long keys wait and passes take, for histograms. */
  readonly observer?: QueueObserver | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log | undefined;
}

/** A cache that a controller decides by. */
export interface SyncedCache {
  synced(signal?: AbortSignal): Promise<void>;
  /** Nothing is reconciled while false; see `Reflector.isCurrent`. */
  isCurrent?(): boolean;
}

/** What a controller did so far, for metrics. */
export interface ControllerCounts {
  readonly passes: number;
  readonly failures: number;
  /** Passes that the hot-loop guard held back. */
  readonly heldBack: number;
}

/** A loop that hands the keys of a queue to a {@link Reconcile}. */
export interface Controller {
  readonly name: string;
  readonly queue: Queue;
  /** Wakes a key. Default priority: `change`. */
  enqueue(key: string, priority?: Priority): void;
  /**
   * Works until the signal aborts; resolves when every pass under way has ended. Rejects only if one of `waitFor` fails.
   * May be called once.
   */
  start(signal: AbortSignal): Promise<void>;
  counts(): ControllerCounts;
}

/**
 * Makes a controller.
 *
 * @example
 * const controller = createController({ name: "machine", reconcile, workers: 10, waitFor: [machines], clock, random, log });
 * watchTriggers({ store: machines.store, controller, keys: (machine) => [keyOf(machine)] });
 * await controller.start(signal);
 */
export function createController(options: ControllerOptions): Controller {
  const { name, clock, random, reconcile } = options;
  const log = options.log ?? noLog;
  const queue = createQueue({ clock, random, backoff: options.backoff, observer: options.observer });
  const guard = createHotLoopGuard(clock, options.maxPassesPerSecond ?? 10);
  const timeoutMs = options.timeoutMs ?? 120_000;
  const counts = { passes: 0, failures: 0, heldBack: 0 };
  const caches = options.waitFor ?? [];
  let started = false;

  function settle(key: string, result: ReconcileResult): void {
    if ("backOff" in result) {
      counts.failures++;
      const delayMs = queue.addWithBackoff(key);
      log("debug", "A pass backed off", { controller: name, key, because: result.backOff, delayMs });
      return;
    }
    if ("requeueAfterMs" in result) {
      if (Number.isNaN(result.requeueAfterMs)) throw new TypeError("requeueAfterMs is not a number");
      queue.forget(key);
      queue.addAfter(key, result.requeueAfterMs);
      return;
    }
    queue.forget(key);
  }

  function fail(key: string, error: unknown): void {
    counts.failures++;
    const failures = queue.failures(key);
    const delayMs = queue.addWithBackoff(key, retryAfterOf(error));
    // A conflict is the cache being a moment behind; only a lasting one is news.
    const level = isConflict(error) && failures < 5 ? "debug" : "error";
    log(level, "A pass failed", { controller: name, key, error: messageOf(error), failures: failures + 1, delayMs });
  }

  async function pass(key: string, signal: AbortSignal): Promise<void> {
    const delayMs = guard.admit(key);
    if (delayMs > 0) {
      counts.heldBack++;
      queue.addAfter(key, delayMs);
      log("debug", "A key was held back because it was worked on too often", { controller: name, key, delayMs });
      return;
    }
    counts.passes++;
    const deadline = startDeadline(clock, timeoutMs, signal);
    const overdue = () => {
      if (deadline.expired()) log("warn", "A pass is over its deadline", { controller: name, key, timeoutMs });
    };
    deadline.signal.addEventListener("abort", overdue, { once: true });
    try {
      settle(key, await reconcile(key, deadline.signal));
    } catch (error) {
      // What a stopping controller interrupts is picked up by the next one.
      if (!signal.aborted) fail(key, error);
    } finally {
      deadline.clear();
    }
  }

  /** Waits while a cache is of a history that the server has no longer. Resolves when the signal aborts. */
  async function untilCurrent(signal: AbortSignal): Promise<void> {
    await Promise.all(caches.map((cache) => cache.synced(signal))).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  async function work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await queue.take(signal).catch(() => undefined);
      if (key === undefined) return;
      try {
        if (caches.some((cache) => cache.isCurrent?.() === false)) await untilCurrent(signal);
        if (!signal.aborted) await pass(key, signal);
      } finally {
        queue.done(key);
      }
    }
  }

  async function start(signal: AbortSignal): Promise<void> {
    if (started) throw new Error(`the controller ${name} was started before`);
    started = true;
    try {
      await Promise.all(caches.map((cache) => cache.synced(signal)));
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    await Promise.all(Array.from({ length: options.workers ?? 4 }, () => work(signal)));
    // The workers are gone: what is still ready would never be drained.
    void queue.shutDown();
  }

  return { name, queue, enqueue: queue.add, start, counts: () => ({ ...counts }) };
}

/** `retryAfterMs` of an ApiError, a MachineError or whatever else carries one. */
function retryAfterOf(error: unknown): number {
  if (typeof error !== "object" || error === null || !("retryAfterMs" in error)) return 0;
  return typeof error.retryAfterMs === "number" && error.retryAfterMs > 0 ? error.retryAfterMs : 0;
}
