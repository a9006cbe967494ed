import { expect, it } from "vitest";
import { findRemovedWords } from "./removed-words.ts";

it("finds removed words in text, identifiers and file names", () => {
  const text = "const wakeAfterMs = 1;\n// who was told is no Machine\nconst LaneTrouble = 2;";
  expect(findRemovedWords("src/left-disks.ts", text).map(({ line, word }) => `${line} ${word}`)).toEqual([
    "0 left disks",
    "1 wake",
    "2 told",
    "2 is no Machine",
    "3 Lane",
    "3 Trouble",
  ]);
});

it("leaves words alone that only contain one", () => {
  expect(
    findRemovedWords("src/a.ts", "// retries, there is no Machine, it is no longer ready; essays, planes"),
  ).toEqual([]);
});
