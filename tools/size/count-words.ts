import { documentPages } from "../docs/document-pages.ts";
import { isProjectPage } from "../site/site-pages.ts";

/** Words that people wrote for people, by reader. */
export interface WordCounts {
  /** Of the pages for users: the site, without the project book. */
  readonly site: number;
  /** Of the project book, with the READMEs of packages and test programs. */
  readonly project: number;
}

/** Words of a page. Code, generated blocks and targets of links are not counted; tables are. */
export const wordsOf = (text: string): number =>
  text
    .replaceAll(/^```.*?^```/gms, "")
    .replaceAll(/<!-- generated:.*?<!-- \/generated -->/gs, "")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .split(/\s+/)
    .filter((word) => /\w/.test(word)).length;

/** Pages that are copied from elsewhere, or into another package. */
const isCopied = (file: string): boolean => file.startsWith("packages/create-driver/template/");

/** Counts the words of all documents of the repository. */
export async function countWords(): Promise<WordCounts> {
  const counts = { site: 0, project: 0 };
  for (const { file, text } of (await documentPages()).filter((page) => !isCopied(page.file)))
    counts[isProjectPage(file) ? "project" : "site"] += wordsOf(text);
  return counts;
}
