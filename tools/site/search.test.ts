import { describe, expect, it } from "vitest";
import { documentPages } from "../docs/document-pages.ts";
import { readerGoals, readersWords, readerSearches } from "../docs/reader-goals.ts";
import { createSearch } from "./search-index.ts";
import { isProjectPage, sitePath } from "./site-pages.ts";

const pages = (await documentPages()).filter(({ file }) => !isProjectPage(file) && !file.includes("/template/"));
const search = createSearch(pages);

describe.skipIf(search === undefined)("the search of the site (where npm ci --prefix tools/site was possible)", () => {
  const addressOf = (file: string): string =>
    `/${sitePath(file)}`.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "");
  const firstResults = (text: string): readonly string[] => (search?.(text) ?? []).slice(0, 3);
  const isFound = (text: string, files: readonly string[]): boolean =>
    firstResults(text).some((id) => files.map(addressOf).includes(id.split("#")[0] ?? ""));

  it("finds what readers look for in their own words: 14 of 15", () => {
    expect(readersWords).toHaveLength(15);
    const missing = readersWords.filter(([text, ...files]) => !isFound(text, files));
    expect(
      missing.length,
      missing.map(([text]) => `${text}: ${firstResults(text).join(", ")}`).join("\n"),
    ).toBeLessThan(2);
  });

  it.each([
    ...readerSearches,
    ...readerGoals.map(({ search: text, path }) => [text, (path.at(-1) ?? "").split("#")[0] ?? ""] as const),
  ])("finds %s", (text, file) => {
    expect(isFound(text, [file]), firstResults(text).join(", ")).toBe(true);
  });
});
