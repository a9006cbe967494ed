import { expect, it } from "vitest";
import { documentPages } from "./document-pages.ts";

/** The text between the title and the next heading, block of code or picture. */
const firstParagraph = (text: string): string =>
  text
    .replaceAll(/<!--.*?-->/gs, "")
    .split(/^# .*$/m)
    .slice(1)
    .join("")
    .split(/^(?:## |```|!\[)/m)[0]
    ?.trim() ?? "";

it("the first paragraph of each page states who needs it", async () => {
  const pages = (await documentPages()).filter(({ file }) => /^(docs|examples|charts)\//.test(file));
  expect(pages.length).toBeGreaterThan(50);
  const silent = pages.filter(
    ({ text }) =>
      !/\b[Ff]or (?:everyone|(?:[a-z]+ )?operators|users|authors|contributors|maintainers|people|those)\b/.test(
        firstParagraph(text),
      ),
  );
  expect(silent.map(({ file }) => file)).toEqual([]);
});
