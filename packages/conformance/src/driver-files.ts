import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isRecord } from "@millwright/core";

/** Which files a driver consists of. */
export interface DriverFiles {
  /** Version of its package; absent for a file outside of a package. */
  readonly version?: string;
  /** `sha256:` and the digest of the names and contents of its files. */
  readonly digest: string;
}

/** Folders that a package does not publish. */
const leftOut = new Set(["node_modules", ".git", "coverage"]);

/** The folder of the package of a file: the nearest with a `package.json` that has name and version. */
async function packageOf(file: string): Promise<{ readonly folder: string; readonly version: string } | undefined> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifestFile = join(folder, "package.json");
    if (existsSync(manifestFile)) {
      const manifest: unknown = JSON.parse(await readFile(manifestFile, "utf8"));
      if (isRecord(manifest) && typeof manifest["name"] === "string" && typeof manifest["version"] === "string")
        return manifest["private"] === true ? undefined : { folder, version: manifest["version"] };
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** All files below a folder, in order. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries
      .filter(({ name }) => !leftOut.has(name))
      .map((entry) => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? filesBelow(path) : Promise.resolve(entry.isFile() ? [path] : []);
      }),
  );
  return found.flat().toSorted();
}

/** Version and digest of the package of a driver's module, or the digest of a module that is in no package, or in a private one. */
export async function describeDriverFiles(file: string): Promise<DriverFiles> {
  const found = await packageOf(file);
  const hash = createHash("sha256");
  for (const path of found === undefined ? [file] : await filesBelow(found.folder)) {
    hash.update(`${relative(found?.folder ?? dirname(file), path)}\0`);
    hash.update(await readFile(path));
    hash.update("\0");
  }
  return { ...(found === undefined ? {} : { version: found.version }), digest: `sha256:${hash.digest("hex")}` };
}
