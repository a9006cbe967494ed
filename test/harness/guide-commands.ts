import { readFile } from "node:fs/promises";

/** Folders of `docs` whose commands tests run; `.` is `docs` itself. */
export type GuideFolder = "." | "concepts" | "guides" | "operations" | "reference";

/** The commands of a page of `docs/guides`, or of another folder of `docs`, by the heading above them, in order. A line that ends with a backslash continues. */
export async function commandsOf(
  guide: string,
  folder: GuideFolder = "guides",
): Promise<ReadonlyMap<string, readonly string[]>> {
  const page = await readFile(new URL(`../../docs/${folder}/${guide}.md`, import.meta.url), "utf8");
  const text = page.replaceAll(/ \\\n\s*/g, " ");
  const commands = new Map<string, string[]>();
  let heading = "";
  let isShell = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isShell = line === "```sh";
    else if (line.startsWith("## ")) heading = line.slice(3);
    else if (isShell) commands.set(heading, [...(commands.get(heading) ?? []), line]);
  }
  return commands;
}

/** The arguments of a command, as a shell splits them; quotes keep them together. */
export const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"),
  );
