import * as fc from "fast-check";
import { expect, test } from "vitest";
import { duplicateFields } from "./duplicate-fields.ts";

test.each([
  ['{"a":1,"a":2}', ["a"]],
  ['{"data":{"k":"1","k":"2","k":"3"}}', ["data.k", "data.k"]],
  ['{"l":[{"x":1},{"x":1,"x":[]}],"o":{"x":{"y":[true,null]}}}', ["l[1].x"]],
  [' { "\\u0061" : "{\\"a\\":1" , "a" : -1.5e3 } ', ["a"]],
  ["[]", []],
])("finds the duplicate fields of %s", (text, paths) => {
  expect(duplicateFields(text)).toEqual(paths);
});

test("finds nothing in what a serializer wrote", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(duplicateFields(JSON.stringify(value))).toEqual([]);
    }),
  );
});
