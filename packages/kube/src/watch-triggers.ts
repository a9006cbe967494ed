import type { Controller } from "./controller.ts";
import type { ApiObject } from "./kube-object.ts";
import type { ReadonlyStore } from "./store.ts";

/** Options of {@link watchTriggers}. */
export interface WatchTriggerOptions<T extends ApiObject> {
  readonly store: Pick<ReadonlyStore<T, string>, "subscribe">;
  readonly controller: Pick<Controller, "enqueue">;
  /** The keys of this controller that an object concerns. Must be pure: it maps and does nothing else. */
  readonly keys: (object: T) => Iterable<string>;
  /** Which changes count. `old` is undefined for a new object, `current` for one that is gone. Default: all. */
  readonly when?: ((old: T | undefined, current: T | undefined) => boolean) | undefined;
}

/**
 * Wakes a controller when objects of a store change. Both the old and the new state are mapped, so that an object that moves
 * from one owner to another wakes both.
 *
 * @returns ends it
 */
export function watchTriggers<T extends ApiObject>(options: WatchTriggerOptions<T>): () => void {
  const { controller, keys, when } = options;
  return options.store.subscribe((old, current) => {
    if (when !== undefined && !when(old, current)) return;
    for (const object of [old, current]) {
      if (object === undefined) continue;
      for (const key of keys(object)) controller.enqueue(key);
    }
  });
}
