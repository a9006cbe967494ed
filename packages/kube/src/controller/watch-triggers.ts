import type { ReadonlyStore } from "../cache/store.ts";
import { equalJson } from "../json/json-merge-patch.ts";
import type { ApiObject } from "../objects/kube-object.ts";
import type { Controller } from "./controller.ts";
import type { Priority } from "./ready-line.ts";

/** Options of {@link watchTriggers}. */
export interface WatchTriggerOptions<T extends ApiObject> {
  readonly store: Pick<ReadonlyStore<T, string>, "subscribe">;
  readonly controller: Pick<Controller, "enqueue">;
  /** The keys of this controller that an object concerns. Must be pure: it maps and does nothing else. */
  readonly keys: (object: T) => Iterable<string>;
  /** Which changes count. `old` is undefined for a new object, `current` for one that is gone. Default: all. */
  readonly when?: ((old: T | undefined, current: T | undefined) => boolean) | undefined;
  /** How urgent a change is. Default {@link priorityOfChange}. */
  readonly priority?: ((old: T | undefined, current: T | undefined) => Priority) | undefined;
}

/**
 * How urgent a change of an object is, as far as its metadata tells: `routine` for a resync and for what left all that users set
 * as it was (a status, a heartbeat), `change` for the rest: new or gone, spec, labels, annotations, the wish to delete. Kinds
 * without `generation` (nodes, pods) have no spec that could be told from the status: everything in them is a `change`.
 */
export function priorityOfChange(old: ApiObject | undefined, current: ApiObject | undefined): Priority {
  if (old === undefined || current === undefined) return "change";
  if (old === current) return "routine";
  const { metadata: before } = old;
  const { metadata: after } = current;
  const isSame =
    before.generation !== undefined &&
    before.generation === after.generation &&
    before.uid === after.uid &&
    before.deletionTimestamp === after.deletionTimestamp &&
    equalJson(before.labels, after.labels) &&
    equalJson(before.annotations, after.annotations);
  return isSame ? "routine" : "change";
}

/**
 * Wakes a controller when objects of a store change. Both the old and the new state are mapped, so that an object that moves
 * from one owner to another wakes both.
 *
 * @returns ends it
 */
export function watchTriggers<T extends ApiObject>(options: WatchTriggerOptions<T>): () => void {
  const { controller, keys, when, priority = priorityOfChange } = options;
  return options.store.subscribe((old, current) => {
    if (when !== undefined && !when(old, current)) return;
    const urgency = priority(old, current);
    for (const object of old === current ? [current] : [old, current]) {
      if (object === undefined) continue;
      for (const key of keys(object)) controller.enqueue(key, urgency);
    }
  });
}
