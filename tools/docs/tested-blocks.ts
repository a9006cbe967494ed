/** Languages of blocks that a reader copies and runs, or applies. */
const runnable: ReadonlySet<string> = new Set(["sh", "yaml"]);

/** A runnable block of a page. */
export interface PageBlock {
  /** Heading above it; empty above the first one. */
  readonly heading: string;
  readonly language: string;
  /** Why no test runs it: the comment `<!-- not run: … -->` before it. */
  readonly notRun?: string;
}

/** The runnable blocks of a page, in order. */
export function runnableBlocks(page: string): readonly PageBlock[] {
  const blocks: PageBlock[] = [];
  let heading = "";
  let fence: string | undefined;
  let notRun: string | undefined;
  for (const line of page.split("\n")) {
    const [, ticks, language = ""] = /^ *(`{3,})(\w*)/.exec(line) ?? [];
    if (fence !== undefined) {
      if (ticks === fence) fence = undefined;
      continue;
    }
    if (ticks !== undefined) {
      fence = ticks;
      if (runnable.has(language)) blocks.push({ heading, language, ...(notRun === undefined ? {} : { notRun }) });
    }
    const [, title] = /^#+ (.*)$/.exec(line) ?? [];
    if (title !== undefined) heading = title;
    const [, reason] = /^ *<!-- not run: (.+) -->$/.exec(line) ?? [];
    if (line.trim() !== "") notRun = reason;
  }
  return blocks;
}
