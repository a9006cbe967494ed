import { expect, it } from "vitest";
import { readEntryComments } from "./read-doc-comments.ts";

const source = `
/** Of the table, not of an entry. */
export const keys = {
  /** One line. */
  one: "1",
  /**
   * Two
   * lines.
   */
  two: "2",
  // no doc comment
  three: "3",
} as const satisfies Record<string, string>;
const hidden = { /** not exported */ four: "4" };
`;

it("reads the doc comment of each entry as one line", () => {
  expect([...readEntryComments("keys.ts", source, "keys")]).toEqual([
    ["one", "One line."],
    ["two", "Two lines."],
  ]);
});

it("refuses a file that has no such table", () => {
  expect(() => readEntryComments("keys.ts", source, "hidden")).toThrow('keys.ts: exports no object literal "hidden"');
  expect(() => readEntryComments("keys.ts", "export const = 1", "keys")).toThrow("keys.ts: ");
});
