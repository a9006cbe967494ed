import { type Clock, orAborted, type Random, type Timer } from "@millwright/base";
import { backoffDelay } from "../backoff.ts";
import type { ApiClient } from "../client/api-client.ts";
import { isAlreadyExists, isNotFound, isTransient } from "../client/api-error.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import { objectFields } from "../objects/log-fields.ts";
import { eventResource } from "../objects/built-in-resources.ts";
import type { ApiObject, ObjectMeta } from "../objects/kube-object.ts";
import { createEventSeriesMemory } from "./event-series.ts";
import type { EventRecord, EventSeries } from "./event-series.ts";

/** How many events may be written: a token bucket. */
interface EventBudgetOptions {
  /** Events at once after a quiet time. */
  readonly burst: number;
  /** Events per second in the long run. */
  readonly perSecond: number;
}

/** Options of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  readonly api: Pick<ApiClient, "create" | "patch">;
  /** The reporting component, the `From` column of kubectl. */
  readonly component: string;
  /** Host or pod that reports. Default none. */
  readonly instance?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Size of the buffer; further events are dropped and counted. Default 1000. */
  readonly capacity?: number | undefined;
  /** How many new events of type `Normal` are written; further ones are dropped and counted. Warnings are always written. Default: all. */
  readonly normalEvents?: EventBudgetOptions | undefined;
  readonly log?: Log | undefined;
}

/** Counters of a recorder, for metrics. */
export interface EventCounts {
  readonly sent: number;
  /** Dropped because the buffer was full, the budget of normal events was used, or the server rejected them. */
  readonly dropped: number;
}

/** Writes events in the background; never blocks or fails its caller. */
export interface EventRecorder {
  /** Records an event about an object that has `apiVersion`, `kind` and a name. Returns at once, never throws. */
  record(object: ApiObject, event: EventRecord): void;
  /** Resolves when everything recorded so far was sent or dropped. Rejects with the reason of the signal if that aborts first. */
  flush(signal?: AbortSignal): Promise<void>;
  /** Drops events that were not sent, and all further ones. */
  close(): void;
  counts(): EventCounts;
}

/** A budget of events. */
interface EventBudget {
  /** Whether one more event may be written now; it then counts. */
  take(): boolean;
}

/** Creates a budget that is full. */
function createEventBudget(clock: Clock, { burst, perSecond }: EventBudgetOptions): EventBudget {
  // Invariant: `left` is between 0 and `burst`, and right for `atMs` on the monotonic clock.
  let left = burst;
  let atMs = clock.monotonicMs();
  return {
    take() {
      const nowMs = clock.monotonicMs();
      left = Math.min(burst, left + ((nowMs - atMs) * perSecond) / 1_000);
      atMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}

/** Minimum interval between writes of a combined event, which each new event changes. */
const combinedIntervalMs = 10_000;
const maxAttempts = 5;
const retryBackoff = { initialMs: 500, maxMs: 10_000 };

interface EventObject extends ApiObject {
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Creates an event recorder. It sends one event at a time, in the background. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { api, clock, random } = options;
  const log = options.log ?? noLog;
  const capacity = options.capacity ?? 1_000;
  const stop = new AbortController();
  const budget = options.normalEvents === undefined ? undefined : createEventBudget(clock, options.normalEvents);

  const series = createEventSeriesMemory(options);
  // Invariants: a series is in `buffer` or in `early` exactly when it is pending, at most once; both together are never longer than `capacity`;
  // `sender` is set exactly while something is sent.
  const buffer: EventSeries[] = [];
  /** Combined events that were sent recently, each with the timer that ends its wait. */
  const early = new Map<EventSeries, Timer>();
  const counts = { sent: 0, dropped: 0 };
  let sender: Promise<void> | undefined;

  function record(object: ApiObject, event: EventRecord): void {
    try {
      if (stop.signal.aborted) return;
      const found = series.count(object, event);
      if (found.pending) return;
      const isAffordable = found.stored || event.type === "Warning" || budget?.take() !== false;
      if (!isAffordable || buffer.length + early.size >= capacity) {
        counts.dropped++;
        return;
      }
      found.pending = true;
      const restMs = found.isCombined ? found.sentMs + combinedIntervalMs - clock.monotonicMs() : 0;
      if (restMs > 0)
        early.set(
          found,
          clock.setTimer(restMs, () => release(found)),
        );
      else enqueue(found);
    } catch (error) {
      counts.dropped++;
      log("error", "Failed to record an event", {
        ...objectFields(object),
        because: event.reason,
        error: messageOf(error),
      });
    }
  }

  function enqueue(waiting: EventSeries): void {
    buffer.push(waiting);
    sender ??= sendAll();
  }

  function release(waiting: EventSeries): void {
    early.get(waiting)?.cancel();
    early.delete(waiting);
    enqueue(waiting);
  }

  async function sendAll(): Promise<void> {
    for (let next = buffer.shift(); next !== undefined; next = buffer.shift()) {
      next.pending = false;
      next.sentMs = clock.monotonicMs();
      try {
        await sendWithRetries(next);
        counts.sent++;
      } catch (error) {
        counts.dropped++;
        if (!stop.signal.aborted) {
          log("warn", "Failed to write an event; it is dropped", {
            kind: "Event",
            name: next.name,
            error: messageOf(error),
          });
        }
      }
    }
    // Not in a finally(): an event that is recorded a microtask later must start another sender.
    sender = undefined;
  }

  async function sendWithRetries(event: EventSeries): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(event);
      } catch (error) {
        if (!isTransient(error) || attempt >= maxAttempts || stop.signal.aborted) throw error;
        await clock.sleep(backoffDelay(attempt - 1, retryBackoff, random), stop.signal);
      }
    }
  }

  async function send(event: EventSeries): Promise<void> {
    const { namespace, name, count, lastTimestamp, message } = event;
    const { signal } = stop;
    if (event.stored) {
      try {
        await api.patch(
          eventResource,
          { namespace, name },
          event.isCombined ? { count, lastTimestamp, message } : { count, lastTimestamp },
          { kind: "merge", signal },
        );
        return;
      } catch (error) {
        // Events expire after an hour; this one starts again.
        if (!isNotFound(error)) throw error;
        event.stored = false;
      }
    }
    const { firstTimestamp, body } = event;
    const object: EventObject = {
      metadata: { namespace, name },
      ...body,
      message,
      firstTimestamp,
      lastTimestamp,
      count,
    };
    await api.create<EventObject>(eventResource, object, { signal }).catch((error: unknown) => {
      // The name is random: an attempt before this one succeeded, and its response was lost.
      if (!isAlreadyExists(error)) throw error;
    });
    event.stored = true;
  }

  return {
    record,
    flush: async (signal) => {
      signal?.throwIfAborted();
      // A map may lose entries while it is walked.
      for (const waiting of early.keys()) release(waiting);
      for (let current = sender; current !== undefined; current = sender) await orAborted(signal, current);
    },
    close: () => {
      for (const timer of early.values()) timer.cancel();
      counts.dropped += buffer.splice(0).length + early.size;
      early.clear();
      stop.abort(new Error("the event recorder was closed"));
    },
    counts: () => ({ ...counts }),
  };
}
