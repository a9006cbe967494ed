import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { documentPages, root } from "./document-pages.ts";
import { runnableBlocks } from "./tested-blocks.ts";
import { testedPages } from "./tested-pages.ts";

const pages = (await documentPages())
  .filter(({ file }) => file !== "CHANGELOG.md")
  .map(({ file, text }) => ({ file, blocks: runnableBlocks(text) }))
  .filter(({ blocks }) => blocks.length > 0);
const all = pages.flatMap(({ blocks }) => blocks);

describe("the runnable blocks of a page", () => {
  it("are its commands and manifests, with the reason why no test runs them", () => {
    const page = `# One

\`\`\`sh
# no heading
\`\`\`

## Two

<!-- not run: needs a cloud -->

\`\`\`sh
a
\`\`\`

- item

  \`\`\`yaml
  b: c
  \`\`\`

\`\`\`\`sh
\`\`\`sh
\`\`\`\`

\`\`\`text
out
\`\`\`
`;
    expect(runnableBlocks(page)).toEqual([
      { heading: "One", language: "sh" },
      { heading: "Two", language: "sh", notRun: "needs a cloud" },
      { heading: "Two", language: "yaml" },
      { heading: "Two", language: "sh" },
    ]);
  });
});

describe("every command and manifest of the documents", () => {
  it("is run by a test, or has the reason why none can run it", () => {
    const counts = pages
      .map(({ file, blocks }) => [file, blocks.filter(({ notRun }) => notRun === undefined).length] as const)
      .filter(([, count]) => count > 0);
    const expected = Object.entries(testedPages).map(([file, { blocks }]) => [file, blocks]);
    expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(expected));
  });

  it.each(Object.entries(testedPages))("has tests that name its page: %s", (page, { tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    const name = basename(page) === "README.md" ? basename(dirname(page)) : basename(page, ".md");
    for (const test of tests) {
      const text = readFileSync(join(root, test), "utf8");
      expect(text, test).toMatch(new RegExp(`["\`/]${name}(\\.md)?["\`/]`));
    }
  });

  it("names tests that exist in the reasons", () => {
    const named = all.flatMap(({ notRun }) => notRun?.match(/\b(?:test|tools|packages|providers)\/\S+\.ts\b/g) ?? []);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("is run in the most cases; a new exception needs a look", () => {
    const left = all.filter(({ notRun }) => notRun !== undefined);
    expect(left.length).toBe(71);
    expect(all.length).toBeGreaterThan(2 * left.length);
  });
});
