import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Whether the build of a package can stand for its sources: it is there, and not older than they are. */
export type BuildState = "absent" | "older than the sources" | "up to date";

/** Time of the latest change of a file below a folder, milliseconds; 0 if there is none. */
const newestMs = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((newest, entry) => Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs), 0);

/** State of the build of the package in a folder, which is in `dist`. */
export function buildStateOf(folder: string): BuildState {
  const built = join(folder, "dist");
  if (!existsSync(built)) return "absent";
  const sources = Math.max(newestMs(join(folder, "src")), statSync(join(folder, "package.json")).mtimeMs);
  return newestMs(built) < sources ? "older than the sources" : "up to date";
}
