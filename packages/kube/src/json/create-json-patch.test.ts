import { isRecord } from "@millwright/base";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { applyJsonPatch } from "../testing/json-patch.ts";
import { createJsonPatch } from "./create-json-patch.ts";
import { parseJson } from "./parse-json.ts";

test("holds what changed and nothing else", () => {
  const from = { phase: "Pending", list: [1], same: { x: 1 }, old: 1, part: { a: 1, b: 2 } };
  const to = { phase: "Running", list: [1, 2], same: { x: 1 }, added: { y: 2 }, part: { a: 1, b: 3 } };
  expect(createJsonPatch(from, to, "/status")).toEqual([
    { op: "add", path: "/status/phase", value: "Running" },
    { op: "add", path: "/status/list", value: [1, 2] },
    { op: "remove", path: "/status/old" },
    { op: "add", path: "/status/part/b", value: 3 },
    { op: "add", path: "/status/added", value: { y: 2 } },
  ]);
});

test("is empty when nothing changed, also where undefined or null stands for absent", () => {
  expect(
    createJsonPatch({ a: 1, b: { c: [{ d: 1 }] }, f: null }, { a: 1, b: { c: [{ d: 1 }] }, e: undefined }),
  ).toEqual([]);
  expect(createJsonPatch({}, { a: null })).toEqual([]);
});

/** JSON without null, with keys that a path has to escape. */
const json = fc.dictionary(
  fc.constantFrom("a", "b/c", "~d~1", "__proto__"),
  fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes("null")),
);
const parsed = json.map((value) => parseJson(JSON.stringify(value))).filter(isRecord);

test("turns the one value into the other, and leaves both as they are", () => {
  fc.assert(
    fc.property(parsed, parsed, (from, to) => {
      const before = JSON.stringify([from, to]);
      expect(applyJsonPatch(from, createJsonPatch(from, to))).toEqual(to);
      expect(JSON.stringify([from, to])).toBe(before);
    }),
  );
});
