import { execFile } from "node:child_process";
import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a build without an engine for containers needs. */
export interface StagedBuild {
  /** Folder with the Containerfile. */
  readonly context: string;
  /** Where the stages are written. */
  readonly folder: string;
  /** Files of an image that stages begin with, by its name in `FROM`. Others begin empty. */
  readonly bases?: Readonly<Record<string, string>>;
  readonly env?: (stage: string) => NodeJS.ProcessEnv;
  /** Changes a command of `RUN`. */
  readonly command?: (text: string) => string;
}

/** An image that is a folder. */
export interface StagedImage {
  readonly root: string;
  /** The words of `ENTRYPOINT` and `CMD`, with the paths of the folder. */
  readonly start: readonly string[];
}

/** Executes the lines of a Containerfile without an engine: absolute paths of a stage are in a folder of its own, and commands run on this computer. Resolves with the last stage. */
export async function buildStaged({ context, folder, bases = {}, env, command }: StagedBuild): Promise<StagedImage> {
  const stages = new Map<string, string>();
  let [stage, cwd] = ["", ""];
  const start: string[] = [];
  const shell = (text: string): Promise<unknown> =>
    run("bash", ["-euc", text], { cwd, env: { ...process.env, ...env?.(stage) } });
  const at = (text: string): string => text.replaceAll(/(?<= |^)\/(?=(?:app|tmp|driver|package)\b)/g, `${stage}/`);
  const isIgnored = await ignoredIn(context);
  const addWords = async (line: string): Promise<void> => {
    const words: unknown = JSON.parse(line);
    if (Array.isArray(words)) start.push(...words.map((word) => at(String(word))));
  };
  const instructions: Readonly<Record<string, (rest: string) => Promise<unknown>>> = {
    async FROM(rest) {
      const [image = "", , title = "last"] = rest.split(" ");
      cwd = stage = join(folder, `stage-${title}`);
      stages.set(title, stage);
      await mkdir(join(stage, "tmp"), { recursive: true });
      const base = bases[image];
      if (base !== undefined) await cp(base, stage, { recursive: true, verbatimSymlinks: true });
    },
    WORKDIR: (rest) => mkdir((cwd = at(rest)), { recursive: true }),
    COPY(rest) {
      const [, from, source = "", target = ""] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(rest) ?? [];
      if (from !== undefined) return shell(`cp ${stages.get(from) ?? ""}${source} ${at(target)}`);
      const to = target === "." ? cwd : at(target);
      return cp(join(context, source), to, { recursive: true, filter: (path) => !isIgnored(path) });
    },
    RUN: (rest) => shell(at(command?.(rest) ?? rest)),
    ENTRYPOINT: addWords,
    CMD: addWords,
  };
  for (const line of (await readFile(join(context, "Containerfile"), "utf8")).split("\n")) {
    const [instruction = "", ...words] = line.split(" ");
    await instructions[instruction]?.(words.join(" "));
  }
  return { root: stage, start };
}

/** What the context leaves out. */
async function ignoredIn(context: string): Promise<(path: string) => boolean> {
  const text = await readFile(join(context, ".dockerignore"), "utf8").catch(() => "");
  const ignored = text.split("\n").filter((each) => each !== "");
  return (path) => ignored.some((each) => `${path}/` === join(context, each));
}
