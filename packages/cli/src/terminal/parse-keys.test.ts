import { expect, it } from "vitest";
import { parseKeys } from "./parse-keys.ts";

it.each([
  ["\u001B[A\u001BOB", ["up", "down"]],
  ["\u001B", ["escape"]],
  ["\r\u007F\u0003", ["enter", "backspace", "ctrl-c"]],
  ["a日?", ["a", "日", "?"]],
  // Unknown sequences type nothing: their letters would be taken for keys.
  ["\u001B[1;5Pq", ["q"]],
  ["\u001B[200~x", ["x"]],
  ["\u0000", []],
])("reads %j as %j", (input, keys) => {
  expect(parseKeys(input)).toEqual(keys);
});
