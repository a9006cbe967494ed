import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Program, startProgram } from "./program.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
const git = async (...args: readonly string[]): Promise<string> =>
  (await run("git", ["-C", root, ...args])).stdout.trim();

const BIN = "packages/cli/src/bin.ts";
const DAY_S = 86_400;

/** An earlier version of the command, from the history of this repository. */
export interface PreviousVersion {
  /** Its tag, or the abbreviated commit. */
  readonly name: string;
  /** Folder of its Helm chart. */
  readonly chart: string;
  start(args: readonly string[]): Program;
  /** Deletes its files. */
  close(): Promise<void>;
}

/** How many commits without tag are tried at most: one of them may be a step at which the command did not start. */
const TRIED = 20;

/**
 * The last tag before this commit; without tags the commits that are a day older, the last one first. A shallow clone may have
 * neither: then this commit.
 */
async function previousCommits(): Promise<readonly string[]> {
  const tag = await git("describe", "--tags", "--abbrev=0", "HEAD^").catch(() => "");
  if (tag !== "") return [tag];
  const committed = Number(await git("log", "-1", "--format=%ct"));
  const older = await git("rev-list", `-${TRIED}`, "--first-parent", `--before=${committed - DAY_S}`, "HEAD");
  return older === "" ? ["HEAD"] : older.split("\n");
}

/** Links the packages of an earlier version by their names, and what they depend on to what is installed for this one. */
async function linkPackages(folder: string): Promise<void> {
  const modules = join(folder, "node_modules");
  const own = join(modules, "@millwright");
  await mkdir(own, { recursive: true });
  for (const name of await readdir(join(root, "node_modules")))
    if (name !== "@millwright") await symlink(join(root, "node_modules", name), join(modules, name));
  for (const parent of ["packages", "providers"])
    for (const name of await readdir(join(folder, parent))) {
      const link = join(own, parent === "providers" ? `provider-${name}` : name);
      await symlink(relative(own, join(folder, parent, name)), link);
    }
}

const argumentsOf = (folder: string, args: readonly string[]): readonly string[] => [
  "--conditions=@millwright/source",
  join(folder, BIN),
  ...args,
];

/** Writes the files of a commit into a new folder. They run with the dependencies of this version, from their sources. */
async function checkOut(commit: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-previous-"));
  // By an index of its own: that of the repository stays as it is, and no other program has a part in it.
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, "index") };
  await run("git", ["-C", root, "read-tree", commit], { env });
  await run("git", ["-C", root, "checkout-index", "--all", `--prefix=${folder}/`], { env });
  await linkPackages(folder);
  return folder;
}

/** Checks the newest earlier version out whose command starts. */
export async function checkOutPreviousVersion(): Promise<PreviousVersion> {
  const failures: unknown[] = [];
  for (const commit of await previousCommits()) {
    const folder = await checkOut(commit);
    const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
    try {
      await run(process.execPath, [...argumentsOf(folder, ["run", "--help"])]);
    } catch (error) {
      failures.push(error);
      await close();
      continue;
    }
    const name = await git("rev-parse", "--short", commit);
    const title = (args: readonly string[]): string => `millwright of ${name} ${args.join(" ")}`;
    return {
      name,
      chart: join(folder, "charts/millwright"),
      start: (args) => startProgram(title(args), process.execPath, argumentsOf(folder, args)),
      close,
    };
  }
  throw new AggregateError(failures, "No earlier version starts");
}
