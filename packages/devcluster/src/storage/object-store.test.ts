import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createObjectStore } from "./object-store.ts";
import { type StoreEvent } from "./store-event.ts";

const names = fc.constantFrom("a", "b", "c");
const steps = fc.array(fc.record({ name: names, remove: fc.boolean() }), { maxLength: 60 });

test("versions only grow, a list at a past version equals the past state, and events rebuild the present", () => {
  fc.assert(
    fc.property(steps, (run) => {
      const store = createObjectStore({ historyLimit: 16 });
      const events: StoreEvent[] = [];
      store.subscribe("things.", (event) => events.push(event));
      const past = new Map([[store.resourceVersion, store.list("things.")]]);
      for (const [index, { name, remove }] of run.entries()) {
        if (remove) store.remove("things.", "", name);
        else {
          const metadata = { name, uid: `${name}${index}`, creationTimestamp: "" };
          store.put("things.", { apiVersion: "v1", kind: "Thing", metadata });
        }
        past.set(store.resourceVersion, store.list("things."));
      }
      const replayable = [...past].filter(([version]) => store.resourceVersion - version < 16);
      for (const [version, objects] of replayable)
        expect([...store.scanAt("things.", undefined, version)]).toEqual(objects);
      const versions = events.map(({ resourceVersion }) => resourceVersion);
      expect(versions).toEqual([...versions].toSorted((a, b) => a - b));
      const rebuilt = new Map<string, unknown>();
      for (const { type, key, object } of events) {
        if (type === "DELETED") rebuilt.delete(key);
        else rebuilt.set(key, object);
      }
      expect(new Set(rebuilt.values())).toEqual(new Set(store.list("things.")));
    }),
  );
});

test("hands out frozen objects", () => {
  const store = createObjectStore();
  const metadata = { name: "a", uid: "u", creationTimestamp: "" };
  const stored = store.put("things.", { apiVersion: "v1", kind: "Thing", metadata, spec: { deep: { list: [1] } } });
  expect(Object.isFrozen(stored) && Object.isFrozen(stored.metadata)).toBe(true);
  expect(Reflect.set(stored, "kind", "Other")).toBe(false);
});
