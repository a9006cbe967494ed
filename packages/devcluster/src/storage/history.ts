import type { StoreEvent } from "./store-event.ts";
import { textOf } from "./object-text.ts";

/** The latest changes of a collection, oldest first, limited in number and bytes. */
export interface History {
  /** Earlier versions cannot be replayed. */
  readonly replayableFrom: number;
  add(event: StoreEvent): void;
  /** The changes after a version, which must not be below {@link History.replayableFrom}. */
  since(resourceVersion: number): readonly StoreEvent[];
}

/** Removing the front of an array costs its length, so several entries are removed at once. */
const slack = 1.25;

/**
 * Creates a history that begins at a version. It keeps at least the `limit` latest changes, or as many as fit into `limitBytes` of
 * JSON when they are large; the latest one stays whatever its size.
 */
export function createHistory(limit: number, limitBytes: number, begin: number): History {
  let events: { readonly event: StoreEvent; readonly bytes: number }[] = [];
  let totalBytes = 0;
  let replayableFrom = begin;

  const trim = (): void => {
    let dropped = 0;
    for (const { event, bytes } of events) {
      const isWithin = events.length - dropped <= limit && totalBytes <= limitBytes;
      if (isWithin || dropped === events.length - 1) break;
      dropped += 1;
      totalBytes -= bytes;
      replayableFrom = event.resourceVersion;
    }
    if (dropped > 0) events = events.slice(dropped);
  };

  return {
    get replayableFrom() {
      return replayableFrom;
    },
    add(event) {
      const bytes = textOf(event.object).length;
      events.push({ event, bytes });
      totalBytes += bytes;
      if (events.length > limit * slack || totalBytes > limitBytes * slack) trim();
    },
    since(version) {
      let low = 0;
      let high = events.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        const entry = events[middle];
        if (entry !== undefined && entry.event.resourceVersion <= version) low = middle + 1;
        else high = middle;
      }
      return events.slice(low).map(({ event }) => event);
    },
  };
}
