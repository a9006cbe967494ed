import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** Folder of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A page for people. */
export interface Page {
  /** Path from the root, with forward slashes. */
  readonly file: string;
  readonly text: string;
}

/** Every tracked Markdown file of the repository, by path. */
export async function documentPages(): Promise<readonly Page[]> {
  const tracked = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).split("\n");
  const files = tracked.filter((file) => file !== "" && existsSync(join(root, file))).toSorted();
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(join(root, file), "utf8") })));
}
