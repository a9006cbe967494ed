import type { Clock, Random } from "@millwright/base";
import type { BackoffOptions } from "../backoff.ts";
import { isConflict } from "../client/api-error.ts";
import { retryAfterOf } from "../client/retry-after.ts";
import { startDeadline } from "../deadline.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import { keyFields } from "../objects/log-fields.ts";
import { createTurnSlices } from "../slices.ts";
import { createCostPace } from "./cost-pace.ts";
import type { PaceOptions } from "./cost-pace.ts";
import { createHotLoopGuard } from "./hot-loop-guard.ts";
import type { QueueObserver } from "./queue-meter.ts";
import { createQueue } from "./queue.ts";
import { describeWrite, refusalOf } from "./refused-writes.ts";
import type { Queue } from "./queue.ts";
import type { Priority } from "./ready-line.ts";

/**
 * Result of a reconcile:
 *
 * - `done`: nothing to do until something changes;
 * - `requeueAfterMs`: as done, and requeue after that time (milliseconds) at the latest; 0 means at once;
 * - `backOff`: did not succeed, requeue with exponential backoff; the text is the reason for the log.
 */
export type ReconcileResult =
  | { readonly done: true }
  | { readonly requeueAfterMs: number }
  | { readonly backOff: string };

/** Nothing to do until something changes. */
export const done: ReconcileResult = { done: true };

/**
 * Reconciles one object. Gets a key, never an event: the current state is read from caches. Must be
 * idempotent. An error leads to a requeue with backoff, not before `retryAfterMs` of the error.
 *
 * @param signal aborts when the controller stops or the deadline of the reconcile has passed
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/** Options of {@link createController}. */
export interface ControllerOptions {
  /** In log lines and metrics. */
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Maximum number of concurrent reconciles. Default 4. */
  readonly workers?: number | undefined;
  /** Reconciles start when these have synced. */
  readonly waitFor?: readonly SyncedCache[] | undefined;
  /**
   * The keys of all objects that exist. They are enqueued at the start, and what is enqueued before is ignored: a standby would keep the keys of all
   * objects that are deleted while it waits, for weeks, and reconcile them first. Default: none, and what is enqueued before the start is kept.
   */
  readonly allKeys?: (() => Iterable<string>) | undefined;
  /** Default 500 ms up to 5 min. */
  readonly backoff?: BackoffOptions | undefined;
  /** Deadline of one reconcile, milliseconds. Default 2 min. A reconcile should never wait for slow operations. */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum number of reconciles of one key per second in the long run, and as many at once after a quiet time; further ones are evenly spaced. Limits hot loops and batches the
   * events of a busy object, so it is not a failure and does not back off. Default 10.
   */
  readonly maxReconcilesPerSecond?: number | undefined;
  /** Spaces reconciles of expensive keys. Default: none is expensive. */
  readonly pace?: PaceOptions | undefined;
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

/** Counters of a controller, for metrics. */
export interface ControllerCounts {
  readonly reconciles: number;
  readonly failures: number;
  /** Reconciles that the hot-loop guard or the pace delayed. */
  readonly heldBack: number;
}

/** How a reconcile ended, in the words of controller-runtime's metrics; `requeue` is a requeue with backoff. */
export type ReconcileOutcome = "success" | "requeue_after" | "requeue" | "error";

/** Observes a controller, for metrics. Must not throw. */
export interface ControllerObserver extends QueueObserver {
  /** A reconcile ended after so long, milliseconds. */
  reconciled?(outcome: ReconcileOutcome, ms: number): void;
}

/** A loop that passes the keys of a queue to a {@link Reconcile}. */
export interface Controller {
  readonly name: string;
  readonly queue: Queue;
  /** Deadline of one reconcile, milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of concurrent reconciles. */
  readonly workers: number;
  /** Enqueues a key. Default priority: `change`. Does nothing before the start of a controller with `allKeys`. */
  enqueue(key: string, priority?: Priority): void;
  /**
   * Runs until the signal aborts; resolves when all running reconciles have ended. Rejects only if one of `waitFor` fails.
   * May be called once.
   */
  start(signal: AbortSignal): Promise<void>;
  counts(): ControllerCounts;
  /** Observes waits and reconciles from now on; one observer at a time. */
  observe(observer: ControllerObserver): void;
}

/**
 * Creates a controller.
 *
 * @example
 * const allKeys = () => machines.store.list().map(keyOf);
 * const controller = createController({ name: "machine", reconcile, allKeys, workers: 10, waitFor: [machines], clock, random, log });
 * watchTriggers({ store: machines.store, controller, keys: (machine) => [keyOf(machine)] });
 * await controller.start(signal);
 */
export function createController(options: ControllerOptions): Controller {
  const { name, clock, random, reconcile } = options;
  const log = options.log ?? noLog;
  let observer: ControllerObserver = {};
  const queue = createQueue({
    clock,
    random,
    backoff: options.backoff,
    observer: { waited: (ms) => observer.waited?.(ms), worked: (ms) => observer.worked?.(ms) },
  });
  const guard = createHotLoopGuard(clock, options.maxReconcilesPerSecond ?? 10);
  const pace = options.pace === undefined ? undefined : createCostPace(clock, options.pace);
  const timeoutMs = options.timeoutMs ?? 120_000;
  const workers = options.workers ?? 4;
  const counts = { reconciles: 0, failures: 0, heldBack: 0 };
  const caches = options.waitFor ?? [];
  let started = false;

  function settle(key: string, result: ReconcileResult): ReconcileOutcome {
    if ("backOff" in result) {
      counts.failures++;
      const delayMs = queue.addWithBackoff(key);
      log("debug", "Reconcile backs off", {
        controller: name,
        ...keyFields(key),
        because: result.backOff,
        delayMs,
      });
      return "requeue";
    }
    if ("requeueAfterMs" in result) {
      if (Number.isNaN(result.requeueAfterMs)) throw new TypeError("requeueAfterMs is not a number");
      queue.forget(key);
      queue.addAfter(key, result.requeueAfterMs);
      return "requeue_after";
    }
    queue.forget(key);
    return "success";
  }

  function fail(key: string, error: unknown): ReconcileOutcome {
    const refusal = refusalOf(error);
    const write = refusal === undefined ? {} : { write: describeWrite(refusal.write) };
    const afterMs = retryAfterOf(error);
    // Nothing was sent: events of other objects, which come by the dozen, would double the delay each time.
    if (refusal?.isRepeated === true) {
      queue.addAfter(key, afterMs);
      log("debug", "Reconcile waits until a refused write is repeated", {
        controller: name,
        ...keyFields(key),
        ...write,
        delayMs: afterMs,
      });
      return "requeue_after";
    }
    counts.failures++;
    const failures = queue.failures(key);
    const delayMs = queue.addWithBackoff(key, afterMs);
    // A conflict normally means that the cache is slightly behind; only report it when it lasts.
    const level = isConflict(error) && failures < 5 ? "debug" : "error";
    log(level, "Reconcile failed", {
      controller: name,
      ...keyFields(key),
      error: messageOf(error),
      ...write,
      failures: failures + 1,
      delayMs,
    });
    return "error";
  }

  /** Whether the key must wait; it is then requeued. */
  function isDelayed(key: string): boolean {
    // In this order: the pace counts a key that it admits.
    const heldMs = guard.waitMs(key);
    const delayMs = heldMs > 0 ? heldMs : (pace?.admit(key) ?? 0);
    if (delayMs <= 0) return false;
    counts.heldBack++;
    queue.addAfter(key, delayMs);
    const message =
      heldMs > 0
        ? "Reconcile is delayed because the key is reconciled too often"
        : "Reconcile is delayed because the key is expensive";
    log("debug", message, { controller: name, ...keyFields(key), delayMs });
    return true;
  }

  async function reconcileKey(key: string, signal: AbortSignal): Promise<void> {
    if (isDelayed(key)) return;
    guard.count(key);
    counts.reconciles++;
    const startMs = clock.monotonicMs();
    const ended = (outcome: ReconcileOutcome): void => observer.reconciled?.(outcome, clock.monotonicMs() - startMs);
    const deadline = startDeadline(clock, timeoutMs, signal);
    const overdue = () => {
      if (deadline.expired())
        log("warn", "Reconcile exceeded its deadline", { controller: name, ...keyFields(key), timeoutMs });
    };
    deadline.signal.addEventListener("abort", overdue, { once: true });
    try {
      ended(settle(key, await reconcile(key, deadline.signal)));
    } catch (error) {
      // The next process continues what a stopping controller interrupts.
      if (signal.aborted) return;
      ended(fail(key, error));
    } finally {
      deadline.clear();
    }
  }

  const isOutdated = (): boolean => caches.some((cache) => cache.isCurrent?.() === false);

  /** Waits while a cache may hold objects that the server does not have. Resolves when the signal aborts. */
  async function untilCurrent(signal: AbortSignal): Promise<void> {
    while (isOutdated() && !signal.aborted) await clock.sleep(pollMs, signal).catch(() => {});
  }

  // Reconciles that change nothing need no I/O, so that thousands of them, as at the start, would block the event loop for seconds.
  const slices = createTurnSlices({ clock });

  async function work(signal: AbortSignal): Promise<void> {
    for (;;) {
      for (let pause = slices.pauseIfDue(); pause !== undefined; pause = slices.pauseIfDue()) await pause;
      const key = await queue.take(signal).catch(() => undefined);
      if (key === undefined) return;
      try {
        if (isOutdated()) await untilCurrent(signal);
        if (!signal.aborted) await reconcileKey(key, signal);
      } finally {
        queue.done(key);
      }
    }
  }

  async function start(signal: AbortSignal): Promise<void> {
    if (started) throw new Error(`the controller ${name} was already started`);
    started = true;
    for (const key of options.allKeys?.() ?? []) queue.add(key);
    try {
      await Promise.all(caches.map((cache) => cache.synced(signal)));
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    await Promise.all(Array.from({ length: workers }, () => work(signal)));
    // The workers have ended: keys that are still ready would never be drained.
    void queue.shutDown();
  }

  return {
    name,
    queue,
    timeoutMs,
    workers,
    enqueue(key, priority) {
      if (started || options.allKeys === undefined) queue.add(key, priority);
    },
    start,
    counts: () => ({ ...counts }),
    observe: (next) => void (observer = next),
  };
}

/** How often a worker looks whether caches are current again, after the API server was unreachable or restored. */
const pollMs = 100;
