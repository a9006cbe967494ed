import type { ObjectStore } from "./object-store.ts";

/** The same store, whose lists are empty. */
export const withoutObjects = (store: ObjectStore): ObjectStore => ({
  ...store,
  get resourceVersion() {
    return store.resourceVersion;
  },
  list: () => [],
  scanAt: () => Object.assign([], { count: 0 }),
});

/** The same store, whose lists are of the state so many versions ago. A watch that begins with such a list gets the changes since. */
export function laggingStore(store: ObjectStore, versions: number): ObjectStore {
  const version = Math.max(1, store.resourceVersion - versions);
  let isBehind = true;
  return {
    ...store,
    get resourceVersion() {
      return isBehind ? version : store.resourceVersion;
    },
    list: (name, namespace) => [...store.scanAt(name, namespace, version)],
    scanAt: (name, namespace, at, after) => store.scanAt(name, namespace, Math.min(at, version), after),
    since(name, from) {
      isBehind = false;
      return store.since(name, from);
    },
    subscribe(name, subscriber) {
      const missed = isBehind && name !== undefined ? store.since(name, version) : [];
      isBehind = false;
      for (const event of missed) subscriber(event);
      return store.subscribe(name, subscriber);
    },
  };
}
