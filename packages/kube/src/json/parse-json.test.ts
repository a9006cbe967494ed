import { expect, test } from "vitest";
import { parseJson } from "./parse-json.ts";

test("drops __proto__ keys at every depth, however they are escaped", () => {
  const text = '{"a":{"__proto__":{"x":1},"b":[{"\\u005f\\u005Fprot\\u006f__":{"x":1},"c":2}]},"__proto__" : null}';
  expect(parseJson(text)).toEqual({ a: { b: [{ c: 2 }] } });
});

test("leaves the text __proto__ alone where it is a value", () => {
  expect(parseJson('{"a":"__proto__","b":["__proto__"]}')).toEqual({ a: "__proto__", b: ["__proto__"] });
});

test("refuses what is not JSON", () => {
  expect(() => parseJson("{a:1}")).toThrow(SyntaxError);
});
