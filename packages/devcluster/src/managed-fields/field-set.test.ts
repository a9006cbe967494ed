import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isObject, type JsonObject } from "../json/json.ts";
import { decodeFieldSet, difference, encodeFieldSet, intersection, isEmptySet, sameSet, union } from "./field-set.ts";
import { changedFields, fieldTreeOf } from "./field-tree.ts";
import { applyConfiguration } from "./merge-applied.ts";

const key = fc.constantFrom("a", "b", "c", "constructor");
const objects: fc.Arbitrary<JsonObject> = fc.dictionary(
  key,
  fc.oneof(fc.constantFrom("1", "2"), fc.dictionary(key, fc.constantFrom("1", "2"), { minKeys: 1 })),
  { minKeys: 1 },
);
const text = { type: "string" };
const schema = { type: "object", properties: { map: { type: "object", additionalProperties: text }, name: text } };

test("sets are equal after writing and reading", () => {
  fc.assert(
    fc.property(objects, (object) => {
      const set = fieldTreeOf(object, schema);
      expect(sameSet(decodeFieldSet(encodeFieldSet(set)), set)).toBe(true);
    }),
  );
});

test("union, difference and intersection keep the laws of sets", () => {
  fc.assert(
    fc.property(objects, objects, (left, right) => {
      const [a, b] = [fieldTreeOf(left, schema), fieldTreeOf(right, schema)];
      expect(sameSet(union(difference(a, b), intersection(a, b)), a)).toBe(true);
      expect(isEmptySet(intersection(difference(a, b), b))).toBe(true);
      expect(sameSet(union(a, b), union(b, a))).toBe(true);
    }),
  );
});

test("after an apply the object has the configuration, and fields of other managers are unchanged", () => {
  fc.assert(
    fc.property(objects, objects, objects, (live, before, applied) => {
      const fields = fieldTreeOf(applied, schema);
      const dropped = difference(fieldTreeOf(before, schema), fields);
      const result = applyConfiguration(live, applied, schema, dropped, fields);
      expect(isEmptySet(changedFields(fieldTreeOf(result, schema), fields))).toBe(true);
      for (const name of Object.keys(result)) {
        expect(Object.hasOwn(live, name) || Object.hasOwn(applied, name)).toBe(true);
      }
      const untouched = Object.keys(live).filter(
        (name) => !Object.hasOwn(applied, name) && !Object.hasOwn(before, name),
      );
      for (const name of untouched) expect(isObject(result) ? result[name] : undefined).toEqual(live[name]);
    }),
  );
});
