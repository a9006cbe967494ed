import { expect, test } from "vitest";
import { textIn, textOf } from "./object-text.ts";

test("makes the text of a frozen object once in a row, and each of its forms", () => {
  let made = 0;
  const object = Object.freeze({ kind: "Thing", metadata: Object.freeze({ name: "a" }) });
  const ask = (form: string): string => textIn(form, object, () => ((made += 1), { ...object, apiVersion: form }));
  expect([ask("v1"), ask("v1")]).toEqual(
    Array.from({ length: 2 }, () => JSON.stringify({ ...object, apiVersion: "v1" })),
  );
  expect(made).toBe(1);
  expect(ask("v2")).toContain("v2");
  expect(ask("v1")).toContain("v1");
  expect(made).toBe(3);
});

test("does not cache an object that may still change", () => {
  const object = { kind: "Thing", metadata: { name: "a" } };
  expect(textOf(object)).toContain('"a"');
  object.metadata.name = "b";
  expect(textOf(object)).toContain('"b"');
});

test("escapes the line ends of Unicode, which some clients split a stream at", () => {
  expect(textOf({ text: "a\u2028b\u2029c" })).toBe(String.raw`{"text":"a\u2028b\u2029c"}`);
});
