import { expect, it } from "vitest";
import { fieldLines } from "./field-lines.ts";

const join = (path: string, key: string | number): string => (path === "" ? String(key) : `${path}/${key}`);
const linesOf = (text: string) => fieldLines(text, join).map((lines) => Object.fromEntries(lines));

it("has the line of each field, of its key", () => {
  const text = `# a comment
a:
  b: 1
  c:
    - x
    - d: |
        text

      e: {f: 1,
        "g h": ""}
`;
  expect(linesOf(text)).toEqual([
    {
      "": 2,
      a: 2,
      "a/b": 3,
      "a/c": 4,
      "a/c/0": 5,
      "a/c/1": 6,
      "a/c/1/d": 6,
      "a/c/1/e": 9,
      "a/c/1/e/f": 9,
      "a/c/1/e/g h": 10,
    },
  ]);
});

it("has the lines of several documents, of JSON, and of aliases", () => {
  expect(linesOf("a: 1\n---\n---\nb: &x\n  c: 1\nd: *x\n")).toEqual([
    { "": 1, a: 1 },
    expect.anything(),
    { "": 4, b: 4, "b/c": 5, d: 6 },
  ]);
  expect(linesOf('{\n"a": {\n"b": [1,\n2]}}')).toEqual([{ "": 1, a: 2, "a/b": 3, "a/b/0": 3, "a/b/1": 4 }]);
});
