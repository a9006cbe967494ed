import { expect, it } from "vitest";
import { documentPages } from "./document-pages.ts";

/** Words of running text that a reader takes in one sitting. */
const MAX_WORDS = 1_500;

/** Pages that may be longer, and why. */
const longer: Readonly<Record<string, string>> = {
  "docs/drivers.md": "a reference: methods, rules and error codes, looked up one at a time",
  "docs/project/conditions.md": "a reference: one section for each condition, looked up one at a time",
  "packages/cli/README.md": "a reference: one section for each command",
};

/** The number of words outside of code, tables and generated blocks. */
const wordsOf = (text: string): number =>
  text
    .replaceAll(/^```.*?^```/gms, "")
    .replaceAll(/<!-- generated:.*?<!-- \/generated -->/gs, "")
    .replaceAll(/^\|.*$/gm, "")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .split(/\s+/)
    .filter((word) => /\w/.test(word)).length;

it("no page has more running text than a reader takes in, without a reason", async () => {
  const pages = await documentPages();
  expect(pages.length).toBeGreaterThan(50);
  const long = pages.filter(({ text }) => wordsOf(text) > MAX_WORDS).map(({ file }) => file);
  expect(long).toEqual(Object.keys(longer));
});

it("code, tables, generated blocks and targets of links are not counted", () => {
  const text =
    "Two words\n```sh\nmany more words here\n```\n| a | b |\n<!-- generated:x -->\nthese\n<!-- /generated -->\n[one](a-b-c)";
  expect(wordsOf(text)).toBe(3);
});
