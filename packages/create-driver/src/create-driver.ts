import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { driverNameOf } from "./driver-name.ts";

const template = fileURLToPath(new URL("../template/", import.meta.url));

/** Files that have another name in the template: npm leaves a .gitignore out of packages, and publint rejects a second package.json. */
const renamed: Readonly<Record<string, string>> = {
  "gitignore.template": ".gitignore",
  "package.template.json": "package.json",
};

/** What the files of the template have in place of the names of the driver and of its package. */
const placeholder = "my-cloud";
const packagePlaceholder = `${placeholder}-package`;

/**
 * Why a folder cannot take a new package; undefined if it can: it is empty, has a Git repository without files, or does not exist.
 */
export async function folderProblem(folder: string): Promise<string | undefined> {
  let files: readonly string[];
  try {
    files = await readdir(folder);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    return code === "ENOTDIR" ? `${folder} is a file` : `${folder} cannot be read: ${String(code)}`;
  }
  const file = files.find((each) => each !== ".git");
  return file === undefined
    ? undefined
    : `folder ${folder} is not empty: it has ${file}; use another name, or remove it`;
}

/**
 * Writes the package of a driver: the files of the template with the name of the driver.
 *
 * @param name name of the package, without {@link nameProblem}
 * @param folder a folder without {@link folderProblem}
 * @returns paths of the files, relative to the folder
 */
export async function createDriver(name: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile()).map(({ parentPath, name: file }) => join(parentPath, file));
  const written: string[] = [];
  for (const source of sources.toSorted()) {
    const path = source.slice(template.length);
    const target = renamed[path] ?? path;
    const text = await readFile(source, "utf8");
    await mkdir(dirname(join(folder, target)), { recursive: true });
    await writeFile(join(folder, target), withName(text, name), { flag: "wx" });
    written.push(target);
  }
  return written;
}

const withName = (text: string, name: string): string =>
  text.replaceAll(packagePlaceholder, name).replaceAll(placeholder, driverNameOf(name));
