import { createRequire } from "node:module";
import { anchorsOf } from "../docs/markdown-links.ts";
import { searchOptions } from "./search-options.ts";
import { sitePath } from "./site-pages.ts";

/** A part of a page, as VitePress has it in its index. */
interface Section {
  readonly id: string;
  readonly title: string;
  /** Of the headings above it. */
  readonly titles: readonly string[];
  readonly text: string;
}

interface Index {
  addAll(sections: readonly Section[]): void;
  search(text: string, options: object): readonly { readonly id: string }[];
}

type IndexConstructor = new (options: object) => Index;

/** MiniSearch, which VitePress brings; `undefined` where tools/site is not installed. */
function loadMiniSearch(): IndexConstructor | undefined {
  try {
    return createRequire(import.meta.url)("minisearch") as IndexConstructor;
  } catch {
    return undefined;
  }
}

const addressOf = (file: string): string => `/${sitePath(file)}`.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "");

/** The parts of a page by its headings. */
function sectionsOf(file: string, text: string): readonly Section[] {
  const above: string[] = [];
  const anchors = [...anchorsOf(text)];
  const fenced = text
    .split(/^(```.*?^```)$/ms)
    .map((part, index) => (index % 2 === 0 ? part : part.replaceAll(/^#/gm, " #")));
  return fenced
    .join("")
    .split(/^(?=#+ )/m)
    .filter((part) => part.startsWith("#"))
    .map((part) => {
      const [, marks = "", title = "", body = ""] = /^(#+) (.*)\n?([^]*)$/.exec(part) ?? [];
      above.splice(marks.length - 1, Infinity, title);
      const id = `${addressOf(file)}#${anchors.shift()}`;
      return { id, title, titles: above.slice(0, -1), text: body.replaceAll(/\]\([^)]*\)|<!--.*?-->/gs, " ") };
    });
}

/** The search of the site, over these pages; `undefined` where VitePress is not installed. Its settings are those of VitePress' search box. */
export function createSearch(
  pages: readonly { readonly file: string; readonly text: string }[],
): ((text: string) => readonly string[]) | undefined {
  const MiniSearch = loadMiniSearch();
  if (MiniSearch === undefined) return undefined;
  const index = new MiniSearch({ fields: ["title", "titles", "text"], storeFields: ["title", "titles"] });
  index.addAll(pages.flatMap(({ file, text }) => sectionsOf(file, text)));
  const options = { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, ...searchOptions };
  return (text) => index.search(text, options).map(({ id }) => id);
}
