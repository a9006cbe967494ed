import { expect, test } from "vitest";
import { queryEscape } from "./query-escape.ts";

// What Go's url.QueryEscape answers.
test.each([
  ["abc.DEF-0_9~", "abc.DEF-0_9~"],
  ["a b", "a+b"],
  ["a+b", "a%2Bb"],
  ["<<MACHINE_NAME>>", "%3C%3CMACHINE_NAME%3E%3E"],
  ["!'()*", "%21%27%28%29%2A"],
  ["/?#&=%", "%2F%3F%23%26%3D%25"],
  ["ü\n", "%C3%BC%0A"],
  ["\ud800", "%EF%BF%BD"],
])("%j is escaped as %j", (text, escaped) => {
  expect(queryEscape(text)).toBe(escaped);
});
