import { readFile, writeFile } from "node:fs/promises";
import { expect } from "vitest";
import { chart } from "./chart.ts";
import { createHelm, createKubectl } from "./foreign-tools.ts";
import { commandsOf, type GuideFolder, wordsOf } from "./guide-commands.ts";
import { startMillwright } from "./millwright.ts";

/** How a command ended, and what it printed. */
export interface CommandResult {
  readonly status: number;
  readonly output: string;
}

/** A page of `docs`, whose commands run one after another. */
export interface GuideRunner {
  /** Runs the command at an index below a heading, whatever its status is. */
  attempt(heading: string, index?: number): Promise<CommandResult>;
  /** The same; rejects when it fails. Resolves with what it printed. */
  run(heading: string, index?: number): Promise<string>;
  /** Names the commands that begin so as ones that no test can run here, and why; rejects when there is none. */
  leaveOut(start: string, why: string): void;
  /** Commands that were neither run nor left out. */
  readonly rest: readonly string[];
}

/** What a guide leaves to its reader. */
export interface GuideReader {
  readonly kubeconfig: string;
  /** Values of the variables of the page, without `$`, of `NAME`, `NAMESPACE` and `NODE`, and of the files that it names. They may be added later. */
  readonly names: Readonly<Record<string, string>>;
  /** Folder of the page below `docs`. Default: `operations`. */
  readonly folder?: GuideFolder;
  /** Where `localhost:10258`, the port of a pod, is. */
  readonly pod?: string;
}

type Run = (words: readonly string[], input: string) => Promise<CommandResult>;

/** Programs that guides use: kubectl and Helm are real, curl and jq are not needed. */
async function programsFor({ kubeconfig, pod }: GuideReader): Promise<Readonly<Record<string, Run>>> {
  const [kubectl, helm] = [await createKubectl(kubeconfig), await createHelm(kubeconfig)];
  const foreign =
    (tool: typeof kubectl): Run =>
    async (words, input) => {
      const { code, stdout, stderr } = await tool.attempt(words, input);
      return { status: code, output: `${stdout}${stderr}` };
    };
  return {
    kubectl: foreign(kubectl),
    helm: foreign(helm),
    millwright: async (words) => {
      const command = startMillwright(words, { KUBECONFIG: kubeconfig });
      return { status: await command.ended, output: command.output() };
    },
    curl: async (words) => {
      const response = await fetch((words.at(-1) ?? "").replace("localhost:10258", pod ?? ""));
      return { status: 0, output: await response.text() };
    },
    grep: async (words, input) => {
      const lines = input.split("\n").filter((line) => line.includes(words.at(-1) ?? ""));
      return { status: lines.length === 0 ? 1 : 0, output: lines.join("\n") };
    },
  };
}

/** Reads a page, and prepares its commands. Pipes and `> file` work; other syntax of shells does not. */
export async function readGuide(page: string, reader: GuideReader): Promise<GuideRunner> {
  const commands = await commandsOf(page, reader.folder ?? "operations");
  const programs = await programsFor(reader);
  const left = new Set([...commands.values()].flat().filter((line) => line.trim() !== "" && !line.startsWith("#")));
  const filled = (word: string): string =>
    word
      .replaceAll(/\$([A-Z_]+)/g, (variable, name: string) => reader.names[name] ?? variable)
      .replaceAll(/\b(?:NAME|NAMESPACE|NODE)\b(?!:)/g, (name) => reader.names[name] ?? name)
      .replaceAll(/(?:oci:\/\/\$REGISTRY\/|\b)charts\/millwright\b/g, chart)
      .replace(/^[\w-]+\.(?:json|ya?ml)$/, (file) => reader.names[file] ?? file);
  const runOne = async (command: string, input: string): Promise<CommandResult> => {
    const [program = "", ...words] = wordsOf(command).map(filled);
    const to = words.indexOf(">");
    const run = programs[program];
    if (run === undefined) throw new Error(`a test cannot run ${program}: ${command}`);
    const result = await run(to === -1 ? words : words.slice(0, to), input);
    if (to === -1) return result;
    await writeFile(words[to + 1] ?? "", result.output, { mode: 0o600 });
    return { status: result.status, output: await readFile(words[to + 1] ?? "", "utf8") };
  };
  const attempt = async (heading: string, index = 0): Promise<CommandResult> => {
    const line = commands.get(heading)?.[index];
    if (line === undefined) throw new Error(`${page} has no command ${index} below "${heading}"`);
    left.delete(line);
    let result: CommandResult = { status: 0, output: "" };
    for (const command of line.replace(/ +#.*$/, "").split(" | ")) result = await runOne(command, result.output);
    return result;
  };
  return {
    attempt,
    async run(heading, index) {
      const { status, output } = await attempt(heading, index);
      expect(status, `${page}, ${heading}: ${output}`).toBe(0);
      return output;
    },
    leaveOut(start, why) {
      const found = [...left].filter((line) => line.startsWith(start));
      if (found.length === 0) throw new Error(`${page} has no command ${start} (${why})`);
      for (const line of found) left.delete(line);
    },
    get rest() {
      return [...left];
    },
  };
}
