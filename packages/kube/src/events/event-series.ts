import type { Clock, Random } from "@millwright/base";
import { apiTime } from "../objects/conditions.ts";
import type { ApiObject } from "../objects/kube-object.ts";
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

/** Equal events that are no further apart than this are one Event with a higher count, as in client-go's correlator. */
const aggregationMs = 10 * 60_000;
/** Series that are remembered; the oldest are forgotten first. */
const maxSeries = 4_096;
/** Different events with one reason about one object that are written one by one, as in client-go's correlator. */
const maxSimilar = 10;
/** How it and its readers mark what stands for several. */
const combined = "(combined from similar events): ";
/** Limits of the API: `reason` and `message` of an Event. */
const maxReason = 128;
const maxMessage = 1024;

/** An Event in the making. Events of core/v1 are what `kubectl describe` looks for, by `involvedObject`. */
export interface EventSeries {
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
  /** Whether it is in the buffer or waits to be added to it. */
  pending: boolean;
}

/** Options of {@link createEventSeriesMemory}. */
export interface EventSeriesOptions {
  /** See `EventRecorderOptions`. */
  readonly component: string;
  readonly instance?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** Finds out which events are one Event. */
export interface EventSeriesMemory {
  /** The series that an event belongs to, with the event counted. */
  count(object: ApiObject, event: EventRecord): EventSeries;
}

/** Makes a memory in which there is no series yet. */
export function createEventSeriesMemory(options: EventSeriesOptions): EventSeriesMemory {
  const { component, instance, clock, random } = options;
  const series = new Map<string, EventSeries>();
  const similar = createSimilarEvents({ most: maxSimilar, spanMs: aggregationMs, capacity: maxSeries });

  function count(object: ApiObject, event: EventRecord): EventSeries {
    const { namespace, name = "", uid } = object.metadata;
    const reason = event.reason.slice(0, maxReason);
    const nowMs = clock.monotonicMs();
    const what = [object.kind, namespace, name, uid, event.type, reason];
    const isCombined = similar.isToBeCombined(JSON.stringify(what), event.message.slice(0, maxMessage), nowMs);
    const message = `${isCombined ? combined : ""}${event.message}`.slice(0, maxMessage);
    const key = JSON.stringify([...what, isCombined ? combined : message]);
    const timestamp = apiTime(clock.now());
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
    const created: EventSeries = {
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
        source: { component, ...(instance === undefined ? {} : { host: instance }) },
        reportingComponent: component,
        reportingInstance: instance ?? "",
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
    // A series that ended loses its place.
    series.delete(key);
    series.set(key, created);
    if (series.size > maxSeries) {
      const oldest = series.keys().next();
      if (oldest.done !== true) series.delete(oldest.value);
    }
    return created;
  }

  return { count };
}
