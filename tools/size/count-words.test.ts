import { expect, it } from "vitest";
import { countWords, wordsOf } from "./count-words.ts";

it("code, generated blocks and targets of links are not counted", () => {
  const text =
    "Two words\n```sh\nmany more words here\n```\n| a | b |\n<!-- generated:x -->\nthese\n<!-- /generated -->\n[one](a-b-c)";
  expect(wordsOf(text)).toBe(5);
});

it("users have at most 60,000 words to read, and the project book, with the READMEs of packages, has at most 46,000", async () => {
  const { site, project } = await countWords();
  expect(site).toBeGreaterThan(10_000);
  expect(site).toBeLessThanOrEqual(60_000);
  expect(project).toBeGreaterThan(10_000);
  expect(project).toBeLessThanOrEqual(46_000);
});
