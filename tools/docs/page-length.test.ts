import { expect, it } from "vitest";
import { wordsOf } from "../size/count-words.ts";
import { documentPages } from "./document-pages.ts";

/** Words of running text that a reader takes in one sitting. */
const MAX_WORDS = 1_500;

/** Pages that may be longer, and why. */
const longer: Readonly<Record<string, string>> = {
  "docs/drivers.md": "a reference: methods, rules and error codes, looked up one at a time",
  "docs/project/conditions.md": "a reference: one section for each condition, looked up one at a time",
  "packages/cli/README.md": "a reference: one section for each command",
};

/** Words of running text: tables are looked up. */
const runningWordsOf = (text: string): number => wordsOf(text.replaceAll(/^\|.*$/gm, ""));

it("no page has more running text than a reader takes in, without a reason", async () => {
  const pages = await documentPages();
  expect(pages.length).toBeGreaterThan(50);
  const long = pages.filter(({ text }) => runningWordsOf(text) > MAX_WORDS).map(({ file }) => file);
  expect(long).toEqual(Object.keys(longer));
});
