import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildState, buildStateOf } from "../../tools/build-state.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The command that `npm run build` makes, as it is published. */
export const builtBin = join(root, "packages/cli/dist/bin.js");

/** State of the build of all packages that the command may load: that of the first one which is not up to date. */
export function stateOfBuild(): BuildState {
  const folders = ["packages", "providers"].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  );
  for (const folder of folders) {
    const state = buildStateOf(folder);
    if (state !== "up to date") return state;
  }
  return "up to date";
}
