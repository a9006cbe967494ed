/** A mention of a source that a reader of the repository does not have. */
export interface DanglingSource {
  readonly line: number;
  readonly text: string;
}

/** A page by its name, unless it is part of an address. */
const page = /(?<![\w/.:-])(?!\/\/)[\w./-]*[\w-]+\.md\b/g;
/** Numbers of findings and issues, and of sections of a page that is not named. Public standards have sections, too. */
const numbers = [
  /\(F\d{1,2}[a-z]?\b/g,
  /(?<!(?:RFC \d+|\.org), )\bsections? \d+(?:\.\d+)*/g,
  /\bshared\/reference\b/g,
  /\bissue \d+\b/g,
];

/**
 * Finds mentions of pages that are not in the repository, and of numbered findings and sections of no named page.
 *
 * @param exists whether a page of this name, or path, is in the repository
 */
export function danglingSources(text: string, exists: (page: string) => boolean): readonly DanglingSource[] {
  return text.split("\n").flatMap((content, index) => {
    const pages = [...content.matchAll(page)].map(([found]) => found).filter((found) => !exists(found));
    const numbered = numbers.flatMap((pattern) => [...content.matchAll(pattern)].map(([found]) => found));
    return [...pages, ...numbered].map((found) => ({ line: index + 1, text: found }));
  });
}
