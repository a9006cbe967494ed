import { readFile } from "node:fs/promises";

/** A fenced block of a page. */
export interface Block {
  /** The language after the fence, such as `sh`. */
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a page, in order. */
export const blocksOf = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));

/** The file that a block names in its first line, such as `// src/cloud.ts`; `isMore`: the block is appended to it. */
export function fileOf({ text }: Block): { readonly file: string; readonly isMore: boolean } | undefined {
  const [, file, more] = /^(?:\/\/|---) ([\w./-]+)(, continued)?\n/.exec(text) ?? [];
  return file === undefined ? undefined : { file, isMore: more !== undefined };
}

/**
 * A text after a diff: the lines that begin with a space or `-` must be in it once, and are replaced by those that begin with a space or `+`. The first line of the diff names the file.
 *
 * @throws Error if they are not
 */
export function applyDiff(before: string, diff: string): string {
  const lines = diff.split("\n").slice(1, -1);
  const take = (...signs: readonly string[]): string =>
    lines
      .filter((line) => signs.includes(line.charAt(0)))
      .map((line) => `${line.slice(1)}\n`)
      .join("");
  const [former, latter] = [take(" ", "-"), take(" ", "+")];
  const parts = `\n${before}`.split(`\n${former}`);
  if (parts.length !== 2) throw new Error(`these lines are in the file ${parts.length - 1} times:\n${former}`);
  return parts.join(`\n${latter}`).slice(1);
}

/** The `yaml` blocks of a page of the repository, in order. */
export const yamlBlocks = async (page: string): Promise<readonly string[]> =>
  blocksOf(await readFile(new URL(`../../${page}`, import.meta.url), "utf8"))
    .filter(({ language }) => language === "yaml")
    .map(({ text }) => text);
