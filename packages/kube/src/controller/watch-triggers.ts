import type { ReadonlyStore } from "../cache/store.ts";
import { equalJson } from "../json/json-merge-patch.ts";
import type { ApiObject } from "../objects/kube-object.ts";
import type { Controller } from "./controller.ts";
import type { Priority } from "./ready-line.ts";

/** Options of {@link watchTriggers}. */
export interface WatchTriggerOptions<T extends ApiObject> {
  readonly store: Pick<ReadonlyStore<T, string>, "subscribe">;
  readonly controller: Pick<Controller, "enqueue">;
  /** Maps an object to keys of this controller. Must be pure. */
  readonly keys: (object: T) => Iterable<string>;
  /** Filters changes. `old` is undefined for a new object, `current` for a deleted one. Default: all. */
  readonly when?: ((old: T | undefined, current: T | undefined) => boolean) | undefined;
  /** Priority of a change. Default {@link priorityOfChange}. */
  readonly priority?: ((old: T | undefined, current: T | undefined) => Priority) | undefined;
}

/**
 * Priority of a change by the metadata of the object: `routine` for a resync and for changes of status or heartbeat only,
 * `change` for the rest: creation, deletion, spec, labels, annotations, deletion timestamp. For kinds
 * without `generation` (nodes, pods), where spec and status cannot be distinguished, every change is a `change`.
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
 * Enqueues keys of a controller when objects of a store change. Both the old and the new state are mapped, so that an object that moves
 * from one owner to another enqueues both.
 *
 * @returns ends the subscription
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
