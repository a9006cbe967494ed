import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { documentPages } from "./document-pages.ts";
import { anchorsOf, isExternal, linksOf } from "./markdown-links.ts";
import { readerGoals } from "./reader-goals.ts";

const pages = new Map((await documentPages()).map(({ file, text }) => [file, text]));

/** Pages and headings of the repository that a page links to, by path from the root. */
const targetsOf = (page: string): readonly string[] =>
  linksOf(pages.get(page) ?? "")
    .filter((link) => !isExternal(link))
    .map((link) => (link.startsWith("#") ? `${page}${link}` : posix.join(posix.dirname(page), link)));

/** Clicks from the first page along a path; a heading that no link names is one more, in the outline. `undefined`: a link or heading is missing. */
function clicksOf(path: readonly string[]): number | undefined {
  let page = "README.md";
  let clicks = 0;
  for (const step of path) {
    const [next = "", anchor] = step.split("#");
    const targets = targetsOf(page);
    const isLinked = targets.includes(step);
    if (next !== page && !targets.some((target) => target.split("#")[0] === next)) return undefined;
    if (anchor !== undefined && !anchorsOf(pages.get(next) ?? "").includes(anchor)) return undefined;
    clicks += (next === page ? 0 : 1) + (anchor === undefined || (isLinked && next !== page) ? 0 : 1);
    page = next;
  }
  return clicks;
}

it("every page is reached by links from the first one", () => {
  const reached = new Set(["README.md"]);
  for (const page of reached)
    for (const target of targetsOf(page).map((each) => each.replace(/#.*/, "")))
      for (const found of [target, posix.join(target, "README.md")]) if (pages.has(found)) reached.add(found);
  // The template is the page of another package, once it is copied.
  const copied = "packages/create-driver/template/README.md";
  expect([...pages.keys()].filter((page) => !reached.has(page) && page !== copied)).toEqual([]);
});

describe("goals of readers", () => {
  it("are twenty, of the four readers", () => {
    expect(new Set(readerGoals.map(({ goal }) => goal)).size).toBe(20);
  });

  it.each(readerGoals)("are reached in at most three clicks: $goal", ({ path }) => {
    expect(clicksOf(path)).toBeLessThanOrEqual(3);
  });

  it("are not reached by a link or a heading that does not exist", () => {
    expect(clicksOf(["docs/guides/pools.md"])).toBeUndefined();
    expect(clicksOf(["docs/README.md", "docs/guides/pools.md#no-such-heading"])).toBeUndefined();
  });
});
