import { applyMergePatch } from "@millwright/kube";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import { builtInSchema } from "../schema/type-notation.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const pod: JsonObject = {
  metadata: { name: "p", finalizers: ["a", "b"] },
  spec: {
    containers: [
      { name: "a", image: "x", env: [{ name: "E", value: "1" }] },
      { name: "b", image: "y" },
    ],
    tolerations: [{ key: "t" }],
    volumes: [{ name: "v", emptyDir: {} }],
  },
};

const strategic = (patch: JsonObject): Json => applyStrategicMergePatch(pod, patch, builtInSchema("", "Pod"));

test("strategic merge patch matches list items by their merge key", () => {
  expect(strategic({ spec: { containers: [{ name: "b", image: "z" }, { name: "c" }] } })).toMatchObject({
    spec: { containers: [{ name: "a", image: "x" }, { name: "b", image: "z" }, { name: "c" }] },
  });
});

test("strategic merge patch replaces lists without a merge key", () => {
  expect(strategic({ spec: { tolerations: [{ key: "u" }] } })).toMatchObject({ spec: { tolerations: [{ key: "u" }] } });
});

test("strategic merge patch follows its directives", () => {
  expect(strategic({ spec: { containers: [{ name: "a", $patch: "delete" }] } })).toMatchObject({
    spec: { containers: [{ name: "b" }] },
  });
  expect(strategic({ spec: { containers: [{ $patch: "replace" }, { name: "n" }] } })).toMatchObject({
    spec: { containers: [{ name: "n" }] },
  });
  expect(strategic({ metadata: { "$deleteFromPrimitiveList/finalizers": ["a"] } })).toMatchObject({
    metadata: { finalizers: ["b"] },
  });
  expect(strategic({ metadata: { finalizers: ["c"] } })).toMatchObject({ metadata: { finalizers: ["c", "a", "b"] } });
  expect(
    strategic({
      spec: { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }], containers: [{ name: "a", image: "q" }] },
    }),
  ).toMatchObject({ spec: { containers: [{ name: "b" }, { name: "a", image: "q" }] } });
  expect(strategic({ spec: { volumes: [{ name: "v", $retainKeys: ["name", "secret"], secret: {} }] } })).toMatchObject({
    spec: { volumes: [{ name: "v", secret: {} }] },
  });
  expect(() => strategic({ spec: { $patch: "explode" } })).toThrow("Unknown patch type found: explode");
  expect(() => strategic({ spec: { containers: [{ image: "x" }] } })).toThrow("declared merge key: name");
});

const json = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.integer()),
    tie("object"),
  ),
  object: fc.dictionary(fc.constantFrom("a", "b", "constructor", "$x"), tie("value")),
}));

test("a merge patch applied twice is the same as once, and leaves no null", () => {
  const nulls = (value: unknown): boolean => value === null || (isObject(value) && Object.values(value).some(nulls));
  fc.assert(
    fc.property(json.object, json.object, (target, patch) => {
      const once = applyMergePatch(target, patch);
      expect(applyMergePatch(once, patch)).toEqual(once);
      expect(nulls(once)).toBe(false);
    }),
  );
});

test("a strategic merge patch without directives or lists is a merge patch", () => {
  const plain = fc.dictionary(
    fc.constantFrom("a", "b"),
    fc.oneof(fc.string(), fc.dictionary(fc.constantFrom("c", "d"), fc.integer())),
  );
  fc.assert(
    fc.property(plain, plain, (target, patch) => {
      expect(applyStrategicMergePatch(target, patch, undefined)).toEqual(applyMergePatch(target, patch));
    }),
  );
});

test("a JSON patch leaves its target unchanged and is rejected when an operation does not fit", () => {
  const target = { a: { b: 1 } };
  expect(applyJsonPatch(target, [{ op: "replace", path: "/a/b", value: 2 }])).toEqual({ a: { b: 2 } });
  expect(target).toEqual({ a: { b: 1 } });
  expect(() => applyJsonPatch(target, [{ op: "test", path: "/a/b", value: 3 }])).toThrow(
    "the server rejected our request",
  );
  expect(() => applyJsonPatch(target, [{ op: "remove", path: "/x" }])).toThrow("the server rejected our request");
  expect(() => applyJsonPatch(target, [{ op: "explode", path: "/x" }])).toThrow("the server rejected our request");
  expect(() => applyJsonPatch(target, [{ op: "add", path: "/__proto__/x", value: 1 }])).toThrow("rejected");
  expect(Reflect.get({}, "x")).toBeUndefined();
});

test("a JSON patch may test that a field does not exist", () => {
  const absent = { op: "test", path: "/a/c", value: null };
  const change = { op: "add", path: "/a/b", value: 2 };
  expect(applyJsonPatch({ a: { b: 1 } }, [absent, change])).toEqual({ a: { b: 2 } });
  for (const target of [{ a: { c: 1 } }, {}])
    expect(() => applyJsonPatch(target, [absent, change])).toThrow("rejected");
});
