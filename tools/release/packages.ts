import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A package of this repository. */
export interface WorkspacePackage {
  /** Relative to the repository, such as `packages/core`. */
  readonly folder: string;
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string };
}

/** All packages of this repository, published or not, in the order of their folders. */
export function workspacePackages(): readonly WorkspacePackage[] {
  const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { workspaces: string[] };
  const files = globSync(
    workspaces.map((folder) => `${folder}/package.json`),
    { cwd: root },
  );
  return files.toSorted().map((file) => ({
    folder: dirname(file),
    manifest: JSON.parse(readFileSync(join(root, file), "utf8")) as WorkspacePackage["manifest"],
  }));
}

/** The packages that a release publishes. */
export const publishedPackages = (): readonly WorkspacePackage[] =>
  workspacePackages().filter(({ manifest }) => manifest.private !== true);
