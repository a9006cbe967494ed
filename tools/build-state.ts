import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Whether the build of a package can stand for its sources: it is there, and not older than they are. */
export type BuildState = "absent" | "older than the sources" | "up to date";

/** What a package has besides its sources. */
const otherFolders = new Set(["dist", "node_modules"]);

/** Time of the latest change of a file in a folder and below, milliseconds; 0 if there is none. */
const newestMs = (folder: string, ignored: ReadonlySet<string> = new Set()): number =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !ignored.has(name))
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? newestMs(path) : statSync(path).mtimeMs;
    })
    .reduce((newest, ms) => Math.max(newest, ms), 0);

/** State of the build of the package in a folder, which is in `dist`. */
export function buildStateOf(folder: string): BuildState {
  const built = join(folder, "dist");
  if (!existsSync(built)) return "absent";
  return newestMs(built) < newestMs(folder, otherFolders) ? "older than the sources" : "up to date";
}
