import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { KubeObject } from "../objects/kube-object.ts";
import { createStore } from "./store.ts";
import type { ListMark, Store } from "./store.ts";

const step = fc.record({
  do: fc.constantFrom("write", "foreignWrite", "delete", "foreignDelete", "watch", "beginList", "endList"),
  name: fc.constantFrom("a", "b", "c"),
});

/** A server with a history, and one store that follows it as a reflector would: by a list or a watch, never both. */
function createWorld() {
  const store: Store<KubeObject> = createStore();
  const alive = new Map<string, KubeObject>();
  const history: { readonly object: KubeObject; readonly deleted: boolean }[] = [];
  let delivered = 0;
  let list: { readonly items: KubeObject[]; readonly upTo: number; readonly mark: ListMark } | undefined;

  function commit(name: string, deleted: boolean): KubeObject {
    const version = String(history.length + 1);
    const uid = alive.get(name)?.metadata.uid ?? `${name}-${version}`;
    const object: KubeObject = { metadata: { name, uid, resourceVersion: version } };
    if (deleted) alive.delete(name);
    else alive.set(name, object);
    history.push({ object, deleted });
    return object;
  }

  const act: Readonly<Record<string, (name: string) => void>> = {
    write: (name) => store.applyWrite(commit(name, false)),
    foreignWrite: (name) => void commit(name, false),
    delete: (name) => {
      if (!alive.has(name)) return;
      const { uid } = commit(name, true).metadata;
      store.applyDelete({ name, uid });
    },
    foreignDelete: (name) => {
      if (alive.has(name)) commit(name, true);
    },
    watch: () => {
      const event = history[delivered];
      if (list !== undefined || event === undefined) return;
      delivered++;
      if (event.deleted) store.applyDeletion(event.object);
      else store.applyEvent(event.object);
    },
    beginList: () => {
      const mark = store.beginList();
      list ??= { items: [...alive.values()], upTo: history.length, mark };
    },
    endList: () => {
      if (list === undefined) return;
      store.replaceAll(list.items, String(list.upTo), list.mark);
      delivered = list.upTo;
      list = undefined;
    },
  };

  return {
    store,
    alive,
    act,
    /** Lets everything arrive that is on its way. */
    settle: () => {
      act["endList"]?.("");
      for (let left = history.length; left > 0; left--) act["watch"]?.("");
    },
  };
}

test("never shows an object in an older version, or again after it went, and ends with what the server has", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const world = createWorld();
      const newest = new Map<string, number>();
      const gone = new Set<string>();
      // A subscriber that throws is logged and no more, so what it finds is kept for the end.
      const faults: string[] = [];
      world.store.subscribe((old, current) => {
        const { uid = "", resourceVersion } = (current ?? old)?.metadata ?? {};
        if (current === undefined) gone.add(uid);
        else if (gone.has(uid)) faults.push(`${uid} came back`);
        if (Number(resourceVersion) < (newest.get(uid) ?? 0)) faults.push(`${uid} went back to ${resourceVersion}`);
        newest.set(uid, Number(resourceVersion));
      });
      for (const { do: what, name } of steps) {
        const before = world.alive.get(name)?.metadata;
        world.act[what]?.(name);
        if (what === "delete" && before?.uid !== undefined) gone.add(before.uid);
        // An own write is seen at once, and by nothing older.
        const seen = world.store.get(name)?.metadata;
        const real = world.alive.get(name)?.metadata;
        if (what === "write" && seen?.resourceVersion !== real?.resourceVersion)
          faults.push(`${name} is not as written`);
        if (what === "delete" && seen?.uid === before?.uid && before !== undefined)
          faults.push(`${name} is still there`);
      }
      world.settle();
      expect(faults).toEqual([]);
      const versions = (objects: Iterable<KubeObject>) =>
        new Set(Array.from(objects, ({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`));
      expect(versions(world.store.list())).toEqual(versions(world.alive.values()));
    }),
    { numRuns: 500 },
  );
});
