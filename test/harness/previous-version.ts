import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Program, startProgram } from "./program.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
const git = async (...args: readonly string[]): Promise<string> =>
  (await run("git", ["-C", root, ...args])).stdout.trim();

const DAY_S = 86_400;

/** An earlier version of the command, from the history of this repository. */
export interface PreviousVersion {
  /** Its tag, or the abbreviated commit. */
  readonly name: string;
  start(args: readonly string[]): Program;
  /** Deletes its files. */
  close(): Promise<void>;
}

/** The last tag before this commit; without tags the last commit that is a day older. A shallow clone may have neither: then this commit. */
async function previousCommit(): Promise<string> {
  const tag = await git("describe", "--tags", "--abbrev=0", "HEAD^").catch(() => "");
  if (tag !== "") return tag;
  const committed = Number(await git("log", "-1", "--format=%ct"));
  const older = await git("rev-list", "-1", "--first-parent", `--before=${committed - DAY_S}`, "HEAD");
  return older === "" ? "HEAD" : older;
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

/** Checks an earlier version out beside this one. It runs with the dependencies of this one, from its sources. */
export async function checkOutPreviousVersion(): Promise<PreviousVersion> {
  const commit = await previousCommit();
  const folder = await mkdtemp(join(tmpdir(), "millwright-previous-"));
  // By an index of its own: that of the repository stays as it is, and no other program has a part in it.
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, "index") };
  await run("git", ["-C", root, "read-tree", commit], { env });
  await run("git", ["-C", root, "checkout-index", "--all", `--prefix=${folder}/`], { env });
  await linkPackages(folder);
  const bin = join(folder, "packages/cli/src/bin.ts");
  await access(bin);
  const name = await git("rev-parse", "--short", commit);
  return {
    name,
    start: (args) =>
      startProgram(`millwright of ${name} ${args.join(" ")}`, process.execPath, [
        "--conditions=@millwright/source",
        bin,
        ...args,
      ]),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
