import { readdir, readFile } from "node:fs/promises";
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

/** Every page of the repository: at its root, in `docs/` with its folders, and the README of each package and provider. */
export async function documentPages(): Promise<readonly Page[]> {
  const entries = (folder: string): Promise<string[]> => readdir(join(root, folder));
  const inDocs = await readdir(join(root, "docs"), { recursive: true });
  const docs = inDocs.filter((name) => name.endsWith(".md")).map((name) => `docs/${name.replaceAll("\\", "/")}`);
  const readmes = await Promise.all(
    ["packages", "providers"].map(async (parent) =>
      (await entries(parent)).map((name) => `${parent}/${name}/README.md`),
    ),
  );
  const files = ["README.md", "CONTRIBUTING.md", ...docs.toSorted(), ...readmes.flat().toSorted()];
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(join(root, file), "utf8") })));
}
