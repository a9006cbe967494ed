import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { type Image, inRoot } from "./image-store.ts";

/** What an image is built with. */
export interface BuildOptions {
  /** Folder in which the folders of its stages are made. */
  readonly folder: string;
  /** Build arguments. */
  readonly args?: Readonly<Record<string, string>>;
  /** The image of a name; undefined for those of others, in whose place are the programs of this computer. */
  readonly base: (name: string) => Promise<Image | undefined>;
  /** Environment of its commands, with the registry of packages, given the folder of their stage. */
  readonly env: (root: string) => NodeJS.ProcessEnv;
  /** What a command of `RUN` is on this computer. Default: the same. */
  readonly command?: ((text: string) => string) | undefined;
}

interface Stage extends Image {
  workdir: string;
}

/** A build under way. */
interface Build extends Pick<BuildOptions, "command" | "env"> {
  readonly context: string;
  /** By name. */
  readonly stages: ReadonlyMap<string, Stage>;
}

/** Copies a file or folder of a context, without what its `.dockerignore` names. */
async function copyFromContext(context: string, source: string, to: string): Promise<void> {
  const text = await readFile(join(context, ".dockerignore"), "utf8").catch(() => "");
  const ignored = text.split("\n").filter((each) => each !== "");
  const filter = (path: string): boolean => !ignored.some((each) => `${path}/` === join(context, each));
  await mkdir(dirname(to), { recursive: true });
  await cp(join(context, source), to, { recursive: true, verbatimSymlinks: true, filter });
}

/** Words of an instruction in its JSON form. */
const listOf = (text: string): string[] => {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error(`expected a list of words: ${text}`);
  return list.map(String);
};

const shell = (command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<unknown> =>
  promisify(execFile)("bash", ["-euc", command], { cwd, env, maxBuffer: 64 << 20 });

type Instruction = (stage: Stage, text: string, build: Build) => Promise<unknown> | void;

const instructions: Readonly<Record<string, Instruction>> = {
  USER() {},
  WORKDIR(stage, text) {
    stage.workdir = inRoot(stage.root, text);
    return mkdir(stage.workdir, { recursive: true });
  },
  ENV(stage, text) {
    const [name = "", value = ""] = text.split("=");
    stage.env = { ...stage.env, [name]: value };
  },
  COPY({ root, workdir }, text, { context, env, stages }) {
    const [, stage = "", files = ""] = /^(?:--from=(\w+) )?(.*)$/.exec(text) ?? [];
    const [source = "", target = ""] = files.split(" ");
    const to = resolve(workdir, inRoot(root, target));
    const from = stages.get(stage);
    return from === undefined
      ? copyFromContext(context, source, to)
      : shell(`cp ${from.root}${source} ${to}`, workdir, env(root));
  },
  // The registry has the optional packages of this platform only, which `npm ci` does not accept.
  RUN: ({ root, workdir }, text, { env, command = (same) => same }) =>
    shell(inRoot(root, command(text)).replace("npm ci", "npm install"), workdir, env(root)),
  ENTRYPOINT(stage, text) {
    stage.entrypoint = listOf(text);
  },
  CMD(stage, text) {
    stage.command = listOf(text);
  },
};

/** Begins a stage with the files of an image. */
async function startStage(folder: string, from: Image | undefined): Promise<Stage> {
  const root = await mkdtemp(join(folder, "stage-"));
  if (from !== undefined) await cp(from.root, root, { recursive: true, verbatimSymlinks: true });
  await mkdir(join(root, "tmp"), { recursive: true });
  return { entrypoint: [], command: [], env: {}, ...from, root, workdir: root };
}

/** Instructions of a Containerfile, with their text. */
async function readInstructions(context: string): Promise<readonly (readonly [string, string])[]> {
  const lines = (await readFile(join(context, "Containerfile"), "utf8")).split("\n");
  const matches = lines.map((line) => /^([A-Z]+) (.*)$/.exec(line) ?? []);
  return matches.flatMap(([, name, text = ""]) => (name === undefined ? [] : [[name, text] as const]));
}

/** Builds a Containerfile without an engine for containers: absolute paths of a stage are in a folder of its own, and commands run on this computer. Resolves with the last stage. */
export async function buildImage(context: string, { folder, args, base, env, command }: BuildOptions): Promise<Image> {
  const variables: Record<string, string> = { ...args };
  const expand = (text: string): string => text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => variables[name] ?? "");
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const [name, text] of await readInstructions(context)) {
    const carryOut = instructions[name];
    if (name === "ARG") {
      const [variable = "", value] = text.split("=");
      if (value !== undefined) variables[variable] ??= value;
    } else if (name === "FROM") {
      const [image = "", , title = "last"] = text.split(" ");
      stage = await startStage(folder, await base(expand(image)));
      stages.set(title, stage);
    } else if (carryOut === undefined || stage === undefined) throw new Error(`no test follows ${name} ${text}`);
    else
      await carryOut(stage, expand(text), {
        context,
        stages,
        command,
        env: (root) => ({ ...env(root), ...variables }),
      });
  }
  if (stage === undefined) throw new Error(`${context} has no FROM`);
  const { workdir: _, ...image } = stage;
  return image;
}
