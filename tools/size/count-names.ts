import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../docs/document-pages.ts";

/** Names that a file exports one by one, as the `index.ts` of a package does. */
export function exportedNames(text: string): readonly string[] {
  if (text.includes("export *")) throw new Error("exports names that are not listed");
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  );
}

/** How many names the author of a driver finds in `@millwright/core`. */
export const countContractNames = (): number =>
  exportedNames(readFileSync(join(root, "packages/core/src/index.ts"), "utf8")).length;
