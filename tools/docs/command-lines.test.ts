import { crds } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../packages/cli/src/program.ts";
import { documentPages } from "./document-pages.ts";

type Command = ReturnType<typeof createProgram>;

const pages = (await documentPages()).filter(({ file }) => file !== "CHANGELOG.md");

/** The command lines of `millwright` in the `sh` blocks of a page, as words. */
function commandLines(page: string): readonly string[] {
  const blocks = [...page.matchAll(/^ *(`{3,})sh\n(.*?)^ *\1$/gms)].map(([, , block = ""]) => block);
  return blocks
    .flatMap((block) => block.replaceAll(/ \\\n\s*/g, " ").split("\n"))
    .flatMap((line) =>
      line
        .replaceAll(/\$[A-Z_]+/g, "name")
        .replace(/(^|\s)#.*$/, "")
        .split(/ [|&]+ |<\(|\)| (?:\d?>)/),
    )
    .map((part) => part.trim().replace(/^tools\/millwright/, "millwright"))
    .filter((part) => part.startsWith("millwright "));
}

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", "")).filter((word) => word !== "…");

/** Has every command read its command line, and do nothing. */
function withoutActions(command: Command): Command {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  if (command.commands.length === 0 || command.name() === "crds") command.action(() => undefined);
  for (const each of command.commands) withoutActions(each);
  return command;
}
const parse = (line: string): Promise<Command> =>
  withoutActions(createProgram(() => undefined)).parseAsync(wordsOf(line).slice(1), { from: "user" });

const documented = pages.flatMap(({ file, text }) => commandLines(text).map((line) => [line, file] as const));

describe("command lines of the documents", () => {
  it.each(documented)("are ones that the command reads: %s (%s)", async (line) => {
    await expect(parse(line)).resolves.toBeDefined();
  });

  it("name objects as kubectl does", () => {
    const kinds = crds().flatMap(({ spec: { names } }) => [names.singular, names.plural, ...(names.shortNames ?? [])]);
    const kubectl = new Set([...kinds, "node", "nodes", "no"]);
    const named = documented.flatMap(([line]) => /^millwright why ([a-z]+)\//.exec(line)?.[1] ?? []);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((kind) => !kubectl.has(kind))).toEqual([]);
  });

  it("are many, and one with a flag that does not exist is found", async () => {
    expect(documented.length).toBeGreaterThan(80);
    await expect(parse("millwright why mcd/pool --reason")).rejects.toThrow("unknown option");
    await expect(parse("millwright drian node-1 --dry-run")).rejects.toThrow("unknown command");
    await expect(parse("millwright drain --dry-run")).rejects.toThrow("missing required argument");
  });
});
