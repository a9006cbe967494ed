import type { Clock, Random, Timer } from "@millwright/core";
import type { ApiClient } from "../client/api-client.ts";
import { isNotFound, isTransient } from "../client/api-error.ts";
import { backoffDelay } from "../backoff.ts";
import type { ApiObject, ObjectMeta } from "../objects/kube-object.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import { eventResource } from "../objects/resources.ts";
import { createSimilarEvents } from "./similar-events.ts";

/** What happened to an object, for people who run `kubectl describe`. */
export interface EventRecord {
  /** `Warning` for what someone may have to look into. */
  readonly type: "Normal" | "Warning";
  /** One word in camel case, of a fixed set: `FailedDrain`. Longer than 128 characters is cut. */
  readonly reason: string;
  /**
   * A sentence. Equal ones are counted together. Of more than ten different ones with one reason about one object, each within ten minutes of the one before,
   * the further ones are one Event that shows the newest. Cut at 1024 characters.
   */
  readonly message: string;
}

/** Options of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  readonly api: Pick<ApiClient, "create" | "patch">;
  /** Who reports, the `From` column of kubectl. */
  readonly component: string;
  /** Host or pod that reports. Default none. */
  readonly instance?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Events that may wait to be sent; further ones are dropped and counted. Default 1000. */
  readonly capacity?: number | undefined;
  readonly log?: Log | undefined;
}

/** Numbers of a recorder, for metrics. */
export interface EventCounts {
  readonly sent: number;
  /** Lost because the buffer was full or the server refused them. */
  readonly dropped: number;
}

/** Writes events without ever holding up or failing its caller. */
export interface EventRecorder {
  /** Takes note of an event about an object that has `apiVersion`, `kind` and a name. Returns at once, never throws. */
  record(object: ApiObject, event: EventRecord): void;
  /** Resolves when everything recorded so far was sent or dropped. Rejects with the reason of the signal if that aborts first. */
  flush(signal?: AbortSignal): Promise<void>;
  /** Drops what was not sent and accepts nothing more. */
  close(): void;
  counts(): EventCounts;
}

/** Equal events that are no further apart than this are one Event with a higher count, as in client-go's correlator. */
const aggregationMs = 10 * 60_000;
/** Series that are remembered; the oldest are forgotten first. */
const maxSeries = 4_096;
/** Different events with one reason about one object that are told one by one, as in client-go's correlator. */
const maxSimilar = 10;
/** How it and its readers mark what stands for several. */
const combined = "(combined from similar events): ";
/** What stands for several is written no more often: each event changes it, and a large set has hundreds at once. */
const combinedIntervalMs = 10_000;
const maxAttempts = 5;
const retryBackoff = { initialMs: 500, maxMs: 10_000 };
/** Limits of the API: `reason` and `message` of an Event. */
const maxReason = 128;
const maxMessage = 1024;

/** An Event in the making. Events of core/v1 are what `kubectl describe` looks for, by `involvedObject`. */
interface Series {
  readonly namespace: string;
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly firstTimestamp: string;
  /** Stands for several events with messages of their own. */
  readonly isCombined: boolean;
  message: string;
  lastTimestamp: string;
  lastMs: number;
  count: number;
  /** When it was last taken out of the buffer, to be sent. */
  sentMs: number;
  /** Whether the API server has the Event. */
  stored: boolean;
  /** Whether it waits, in the buffer or until it may go there. */
  pending: boolean;
}

interface EventObject extends ApiObject {
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Makes an event recorder. It sends one event at a time, in the background. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { api, clock, random, component } = options;
  const log = options.log ?? noLog;
  const capacity = options.capacity ?? 1_000;
  const stop = new AbortController();

  // Invariants: a series is in `buffer` or in `early` exactly when it is pending, at most once; both together are never longer than `capacity`;
  // `sender` is set exactly while something is sent.
  const series = new Map<string, Series>();
  const similar = createSimilarEvents({ most: maxSimilar, spanMs: aggregationMs, capacity: maxSeries });
  const buffer: Series[] = [];
  /** Combined events that were sent a short while ago, each with the timer that ends its wait. */
  const early = new Map<Series, Timer>();
  const counts = { sent: 0, dropped: 0 };
  let sender: Promise<void> | undefined;

  function record(object: ApiObject, event: EventRecord): void {
    try {
      if (stop.signal.aborted) return;
      const found = findSeries(object, event);
      if (found.pending) return;
      if (buffer.length + early.size >= capacity) {
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
      log("error", "An event could not be recorded", { reason: event.reason, error: messageOf(error) });
    }
  }

  function enqueue(waiting: Series): void {
    buffer.push(waiting);
    sender ??= sendAll();
  }

  function release(waiting: Series): void {
    early.get(waiting)?.cancel();
    early.delete(waiting);
    enqueue(waiting);
  }

  /** The series that the event belongs to, with the event counted. */
  function findSeries(object: ApiObject, event: EventRecord): Series {
    const { namespace, name = "", uid } = object.metadata;
    const reason = event.reason.slice(0, maxReason);
    const nowMs = clock.monotonicMs();
    const what = [object.kind, namespace, name, uid, event.type, reason];
    const isCombined = similar.isToBeCombined(JSON.stringify(what), event.message.slice(0, maxMessage), nowMs);
    const message = `${isCombined ? combined : ""}${event.message}`.slice(0, maxMessage);
    const key = JSON.stringify([...what, isCombined ? combined : message]);
    const timestamp = toSeconds(clock.now());
    const known = series.get(key);
    if (known !== undefined && nowMs - known.lastMs <= aggregationMs) {
      known.count++;
      known.lastMs = nowMs;
      known.lastTimestamp = timestamp;
      known.message = message;
      // The order of the map is the order in which series are forgotten.
      series.delete(key);
      series.set(key, known);
      return known;
    }
    const created: Series = {
      // Events of cluster-scoped objects live in this namespace; kubectl looks for them there.
      namespace: namespace ?? "default",
      name: `${name.slice(0, 200)}.${random.hex(8)}`,
      body: {
        involvedObject: {
          apiVersion: object.apiVersion,
          kind: object.kind,
          namespace,
          name,
          uid,
          resourceVersion: object.metadata.resourceVersion,
        },
        type: event.type,
        reason,
        source: { component, ...(options.instance === undefined ? {} : { host: options.instance }) },
        reportingComponent: component,
        reportingInstance: options.instance ?? "",
      },
      firstTimestamp: timestamp,
      isCombined,
      message,
      lastTimestamp: timestamp,
      lastMs: nowMs,
      count: 1,
      sentMs: Number.NEGATIVE_INFINITY,
      stored: false,
      pending: false,
    };
    series.delete(key);
    series.set(key, created);
    if (series.size > maxSeries) {
      const oldest = series.keys().next();
      if (oldest.done !== true) series.delete(oldest.value);
    }
    return created;
  }

  async function sendAll(): Promise<void> {
    for (let next = buffer.shift(); next !== undefined; next = buffer.shift()) {
      next.pending = false;
      next.sentMs = clock.monotonicMs();
      try {
        await sendPatiently(next);
        counts.sent++;
      } catch (error) {
        counts.dropped++;
        if (!stop.signal.aborted) {
          log("warn", "An event was not accepted and is lost", { event: next.name, error: messageOf(error) });
        }
      }
    }
    // Here and not in a finally(): what is recorded a microtask later must find that nobody sends.
    sender = undefined;
  }

  async function sendPatiently(event: Series): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(event);
      } catch (error) {
        if (!isTransient(error) || attempt >= maxAttempts || stop.signal.aborted) throw error;
        await clock.sleep(backoffDelay(attempt - 1, retryBackoff, random), stop.signal);
      }
    }
  }

  async function send(event: Series): Promise<void> {
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
    await api.create<EventObject>(eventResource, object, { signal });
    event.stored = true;
  }

  return {
    record,
    flush: async (signal) => {
      signal?.throwIfAborted();
      // A map may lose entries while it is walked.
      for (const waiting of early.keys()) release(waiting);
      const aborted = Promise.withResolvers<void>();
      const abort = () => aborted.reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      try {
        for (let current = sender; current !== undefined; current = sender) {
          await Promise.race([current, aborted.promise]);
        }
      } finally {
        signal?.removeEventListener("abort", abort);
      }
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

/** `2026-01-02T03:04:05Z`, the form of metav1.Time. */
function toSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d{3}Z$/, "Z");
}
