import { access } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { documentPages, type Page, root } from "./document-pages.ts";

const exists = (file: string): Promise<boolean> =>
  access(join(root, file)).then(
    () => true,
    () => false,
  );

/** Names by which the headings of a page are linked. */
const anchorsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .trim()
      .replaceAll(" ", "-"),
  );

describe("the documents", () => {
  let pages: readonly Page[];
  beforeAll(async () => {
    pages = await documentPages();
  });

  it("link to files and headings that exist", async () => {
    const broken: string[] = [];
    let links = 0;
    for (const { file, text } of pages) {
      for (const [, link = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(link)) continue;
        links++;
        const [path = "", anchor] = link.split("#");
        const target = path === "" ? file : normalize(join(dirname(file), path));
        const page = pages.find((each) => each.file === target);
        const isThere = anchor === undefined ? await exists(target) : anchorsOf(page?.text ?? "").includes(anchor);
        if (!isThere) broken.push(`${file}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
    expect(links).toBeGreaterThan(20);
  });

  it("name source files that exist", async () => {
    const missing: string[] = [];
    for (const { file, text } of pages) {
      for (const [, path = ""] of text.matchAll(/`((?:packages|providers|tools|test|src)\/[\w./-]+)`/g)) {
        const isInPackage = path.startsWith("src/");
        if (isInPackage && !/^(packages|providers)\//.test(file)) continue;
        if (!(await exists(isInPackage ? join(dirname(file), path) : path))) missing.push(`${file}: ${path}`);
      }
    }
    expect(missing).toEqual([]);
  });
});
