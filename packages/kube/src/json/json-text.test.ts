import * as fc from "fast-check";
import { expect, test } from "vitest";
import { textWithoutManagedFields } from "../client/managed-fields.ts";
import { elementsOf, findMember, findValue } from "./json-text.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");

/** JSON in which the names that are looked for come up everywhere, also in texts. */
const names = fc.constantFrom("metadata", "managedFields", "object", "items", "a", 'quo"te', "back\\slash", "ü\u2028");
const json = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    names,
    fc.string({ unit: "binary" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null, '"managedFields":[{', "[]}{"),
    tie("object"),
    fc.array(tie("value"), { maxLength: 4 }),
  ),
  object: fc.dictionary(names, tie("value"), { maxKeys: 5 }),
}));
const spacing = fc.constantFrom(undefined, 1, "\t");

function withoutPath(value: unknown, [key = "", ...rest]: readonly string[]): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  if (rest.length === 0) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(entries.map(([name, part]) => [name, name === key ? withoutPath(part, rest) : part]));
}

test("takes out of any object exactly what is at the path, and leaves JSON", () => {
  fc.assert(
    fc.property(json.value, spacing, fc.constantFrom([], ["object"]), (value, space, holder) => {
      const text = textWithoutManagedFields(bytes(JSON.stringify(value, null, space)), holder);
      const expected = withoutPath(value, [...holder, "metadata", "managedFields"]);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
    { numRuns: 2_000 },
  );
});

test("cuts any list into its elements", () => {
  fc.assert(
    fc.property(fc.array(json.value), spacing, (items, space) => {
      const text = bytes(JSON.stringify({ kind: "List", items, metadata: {} }, null, space));
      const list = findValue(text, "items");
      const found = list === undefined ? [] : Array.from(elementsOf(text, list));
      const parsed = found.map((range): unknown => JSON.parse(text.toString("utf8", range.from, range.to)));
      expect(parsed).toEqual(JSON.parse(JSON.stringify(items)));
    }),
    { numRuns: 1_000 },
  );
});

test("comes to an end, within the text, whatever bytes there are", () => {
  const pieces = fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", '"metadata"', '"managedFields"', " ", "x");
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const text = bytes(`{"metadata":${parts.join("")}`);
      const cut = findMember(text, ["metadata", "managedFields"]) ?? { from: 0, to: 1 };
      expect([cut.from >= 0, cut.from < cut.to, cut.to <= text.length]).not.toContain(false);
      const list = findValue(text, "metadata");
      for (const range of list === undefined ? [] : elementsOf(text, list)) {
        expect(range.to).toBeLessThanOrEqual(text.length);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("leaves a text alone that only speaks of managed fields", () => {
  const text = JSON.stringify({ spec: { managedFields: [1] }, metadata: { annotations: { managedFields: "[1]" } } });
  expect(textWithoutManagedFields(bytes(text))).toBe(text);
});
