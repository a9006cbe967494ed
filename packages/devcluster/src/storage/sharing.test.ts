import * as fc from "fast-check";
import { expect, test } from "vitest";
import { at, type Json, type JsonObject } from "../json/json.ts";
import { createSharing } from "./sharing.ts";

const thing = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({ kind: "Thing", metadata, spec });

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

test("keeps equal fields of spec once, and what differs apart", () => {
  const share = createSharing();
  const first = share(thing({ class: { kind: "Class", name: "a" }, own: { name: "a" } }));
  const second = share(thing({ class: { kind: "Class", name: "a" }, own: { name: "b" } }));
  expect(at(second, "spec", "class")).toBe(at(first, "spec", "class"));
  expect(at(second, "spec", "own")).toEqual({ name: "b" });
});

test("keeps equal fields of managers once, also when the managers wrote at different times", () => {
  const share = createSharing();
  const written = (time: string): JsonObject => ({ manager: "m", time, fieldsV1: { "f:spec": { "f:class": {} } } });
  const first = share(thing({}, { managedFields: [written("1"), written("2")] }));
  const second = share(thing({}, { managedFields: [written("2"), written("3")] }));
  const entry = (object: Json, index: number): Json | undefined => {
    const entries = at(object, "metadata", "managedFields");
    return Array.isArray(entries) ? entries[index] : undefined;
  };
  expect(entry(second, 0)).toBe(entry(first, 1));
  expect(at(entry(second, 1), "fieldsV1")).toBe(at(entry(first, 0), "fieldsV1"));
  expect(at(entry(second, 1), "time")).toBe("3");
});

test("returns an equal, frozen object and leaves its input as it was", () => {
  const share = createSharing();
  fc.assert(
    fc.property(fc.object({ withBoxedValues: false }), fc.object(), (spec, metadata) => {
      const object: JsonObject = JSON.parse(JSON.stringify({ kind: "Thing", metadata, spec }));
      const before = JSON.stringify(object);
      const shared = share(object);
      expect(JSON.stringify(shared)).toBe(before);
      expect(JSON.stringify(object)).toBe(before);
      expect(isDeepFrozen(shared)).toBe(true);
    }),
  );
});

test("a key that names the prototype stays an ordinary key", () => {
  const spec: JsonObject = JSON.parse('{"a":{"__proto__":{"polluted":true}},"__proto__":{"polluted":true}}');
  const shared = createSharing()(thing(spec));
  expect(Object.getPrototypeOf(at(shared, "spec"))).toBe(Object.prototype);
  expect(JSON.stringify(at(shared, "spec"))).toBe(JSON.stringify(spec));
});
