import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The command that `npm run build` makes, as it is published. */
export const builtBin = join(root, "packages/cli/dist/bin.js");

/** Time of the latest change of a file in the sources of the packages, milliseconds. */
function newestSourceMs(): number {
  let newest = 0;
  for (const folder of ["packages", "providers"])
    for (const name of readdirSync(join(root, folder))) {
      const sources = join(root, folder, name, "src");
      if (!existsSync(sources)) continue;
      for (const file of readdirSync(sources, { recursive: true, encoding: "utf8" }))
        newest = Math.max(newest, statSync(join(sources, file)).mtimeMs);
    }
  return newest;
}

/** Whether the build can stand for the sources: it is there, and not older than they are. */
export function stateOfBuild(): "absent" | "older than the sources" | "up to date" {
  if (!existsSync(builtBin)) return "absent";
  return statSync(builtBin).mtimeMs < newestSourceMs() ? "older than the sources" : "up to date";
}
