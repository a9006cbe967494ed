import { expect, test } from "vitest";
import { parseJson } from "./parse-json.ts";

test("drops __proto__ keys at every depth, however they are escaped", () => {
  const text = '{"a":{"__proto__":{"x":1},"b":[{"\\u005f\\u005Fprot\\u006f__":{"x":1},"c":2}]},"__proto__" : null}';
  expect(parseJson(text)).toEqual({ a: { b: [{ c: 2 }] } });
});

test("leaves the text __proto__ alone where it is a value", () => {
  expect(parseJson('{"a":"__proto__","b":["__proto__"]}')).toEqual({ a: "__proto__", b: ["__proto__"] });
});

test.each(["[", '{"a":'])("drops them from JSON of any depth: %s", (open) => {
  const depth = 50_000;
  const nested = `${open.repeat(depth)}{"__proto__":1,"b":2}${(open === "[" ? "]" : "}").repeat(depth)}`;
  let value = parseJson(nested);
  for (let level = 0; level < depth; level++) value = Object.values(Object(value))[0];
  expect(value).toEqual({ b: 2 });
});

test("refuses what is not JSON", () => {
  expect(() => parseJson("{a:1}")).toThrow(SyntaxError);
});
