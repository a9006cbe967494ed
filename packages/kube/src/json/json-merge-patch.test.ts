import { isRecord } from "@millwright/base";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { applyMergePatch, createMergePatch, equalJson } from "./json-merge-patch.ts";
import { parseJson } from "./parse-json.ts";

test("holds what changed and nothing else", () => {
  const from = { status: { phase: "Pending", node: "a", list: [1], same: { x: 1 }, gone: 1 } };
  const to = { status: { phase: "Running", node: "a", list: [1, 2], same: { x: 1 }, added: { y: 2 } } };
  expect(createMergePatch(from, to)).toEqual({
    status: { phase: "Running", list: [1, 2], gone: null, added: { y: 2 } },
  });
});

test("is undefined when nothing changed, also where undefined stands for absent", () => {
  expect(
    createMergePatch({ a: 1, b: { c: [{ d: 1 }] } }, { a: 1, b: { c: [{ d: 1 }] }, e: undefined }),
  ).toBeUndefined();
  expect(createMergePatch({}, { a: null })).toBeUndefined();
});

/** JSON without null, which a merge patch cannot write. */
const json = fc.dictionary(
  fc.constantFrom("a", "b", "c", "__proto__"),
  fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes("null")),
);
const parsed = json.map((value) => parseJson(JSON.stringify(value))).filter(isRecord);

test("turns the one value into the other, and leaves both as they are", () => {
  fc.assert(
    fc.property(parsed, parsed, (from, to) => {
      const before = JSON.stringify([from, to]);
      const patch = createMergePatch(from, to);
      expect(applyMergePatch(from, patch ?? {})).toEqual(to);
      expect(patch === undefined).toBe(equalJson(from, to));
      expect(JSON.stringify([from, to])).toBe(before);
    }),
  );
});

test("replaces what is not an object by one, as RFC 7386 has it", () => {
  expect(applyMergePatch({ a: "text" }, { a: { b: 1, c: null } })).toEqual({ a: { b: 1 } });
  expect(applyMergePatch([1], { a: 1 })).toEqual({ a: 1 });
  expect(applyMergePatch({ a: 1 }, "text")).toBe("text");
});

test("never changes a prototype", () => {
  const hostile: unknown = JSON.parse('{"__proto__": {"polluted": true}, "a": {"__proto__": {"polluted": true}}}');
  const result = applyMergePatch({}, hostile);
  expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  const patch = createMergePatch({}, isRecord(hostile) ? hostile : {});
  expect(Object.getPrototypeOf(patch)).toBe(Object.prototype);
});
