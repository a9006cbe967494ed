import type { Clock } from "@millwright/base";
import { equalJson } from "../json/json-merge-patch.ts";

/** What another writer has changed is written over at once, so many times in a row; then once each so often, milliseconds. */
const [burst, restoreMs] = [10, 5_000];

/** Limits how often this process writes over a status, or another part of an object, that another writer has changed: two processes whose caches differ would take each other's writes back without end. */
export interface OverwriteLimit<Status> {
  /** When the status may be written, given the one that is stored, milliseconds of the monotonic clock. In the past: at once. */
  dueMs(key: string, stored: Status): number;
  /** This process writes a status in place of the one that is stored. */
  record(key: string, stored: Status, status: Status): void;
  /** The object was deleted. */
  forget(key: string): void;
}

/** What this process wrote last to one object. */
interface Writes<Status> {
  readonly status: Status;
  /** When what others change may be written over as often as in a burst again. */
  readonly fullAtMs: number;
}

/** Creates an {@link OverwriteLimit}. It knows only the writes of this process. */
export function createOverwriteLimit<Status>(clock: Pick<Clock, "monotonicMs">): OverwriteLimit<Status> {
  const writes = new Map<string, Writes<Status>>();
  const fullAtMs = (key: string): number => writes.get(key)?.fullAtMs ?? Number.NEGATIVE_INFINITY;
  const isOfOther = (key: string, stored: Status): boolean => {
    const last = writes.get(key);
    return last !== undefined && !equalJson(stored, last.status);
  };
  return {
    dueMs: (key, stored) =>
      isOfOther(key, stored) ? fullAtMs(key) - (burst - 1) * restoreMs : Number.NEGATIVE_INFINITY,
    record(key, stored, status) {
      const spent = isOfOther(key, stored) ? Math.max(fullAtMs(key), clock.monotonicMs()) + restoreMs : fullAtMs(key);
      writes.set(key, { status, fullAtMs: spent });
    },
    forget: (key) => void writes.delete(key),
  };
}
