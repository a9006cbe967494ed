import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { ConfigError, isRecord } from "@millwright/base";

/** Which files a driver consists of. */
export interface DriverFiles {
  /** Version of its package; absent for a file outside of a package. */
  readonly version?: string;
  /** `sha256:` and the digest of its files, as {@link digestOf} makes it. */
  readonly digest: string;
}

/** The package of a file. */
interface DriverPackage {
  readonly folder: string;
  readonly version: string;
}

/** Folders that a package does not publish, or that the lock file of its user is for. */
const leftOut = new Set(["node_modules", ".git"]);

/** The published package of a file: the nearest folder with a `package.json` that has name and version; undefined for a file in none, or in a private one. */
export async function packageOf(file: string): Promise<DriverPackage | undefined> {
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

/** All files below a folder. A link to a file is that file; what a link to a folder contains could change unseen. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries
      .filter(({ name }) => !leftOut.has(name))
      .map(async (entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return filesBelow(path);
        if (entry.isSymbolicLink() && (await stat(path)).isDirectory())
          throw new ConfigError(`${path} is a link to a folder, which a digest cannot cover: copy the files`);
        return [path];
      }),
  );
  return found.flat();
}

/** The digest of a file. */
const fileDigest = async (path: string): Promise<string> =>
  createHash("sha256")
    .update(await readFile(path))
    .digest("hex");

/**
 * The digest of files: that of the output of `sha256sum` for them, by their paths in the folder, in the order of their bytes.
 *
 * @throws ConfigError for a name with a line break, which would be read as another file
 */
async function digestOf(folder: string, files: readonly string[]): Promise<string> {
  const lines = await Promise.all(
    files.map(async (file) => {
      const path = relative(folder, file).replaceAll(sep, "/");
      if (/[\n\r\\]/.test(path))
        throw new ConfigError(`${JSON.stringify(file)}: the name of a file of a driver must have no line break`);
      return { path, line: `${await fileDigest(file)}  ${path}\n` };
    }),
  );
  const ordered = lines.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  return createHash("sha256")
    .update(ordered.map(({ line }) => line).join(""))
    .digest("hex");
}

/**
 * Version and digest of the package of a driver's module; the digest of that file alone if it is in no package, or in a private one.
 *
 * @throws ConfigError for files that a digest cannot cover
 */
export async function describeDriverFiles(file: string): Promise<DriverFiles> {
  const found = await packageOf(file);
  const digest =
    found === undefined
      ? await digestOf(dirname(file), [file])
      : await digestOf(found.folder, await filesBelow(found.folder));
  return { ...(found === undefined ? {} : { version: found.version }), digest: `sha256:${digest}` };
}
