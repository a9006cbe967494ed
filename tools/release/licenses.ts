/* Licenses of packages that what we publish installs or what an image holds. */

/** Licenses that allow to ship a package with ours, if its text is kept (SPDX identifiers). */
export const allowedLicenses: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "PSF-2.0",
  "Python-2.0",
  "MIT",
  "Unlicense",
]);

/** An entry of package-lock.json. */
export interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

type Lock = Readonly<Record<string, LockEntry>>;

/** The path in the lock file of a package that another one loads; undefined for one that is not installed, such as an optional peer. */
function pathOf(name: string, from: string, lock: Lock): string | undefined {
  for (let folder = from; ; folder = folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : "") {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    const found = lock[path];
    if (found !== undefined) return found.link === true ? found.resolved : path;
    if (folder === "") return undefined;
  }
}

/** Paths in the lock file of packages and of all that they need to run. */
export function productionClosure(folders: readonly string[], lock: Lock): readonly string[] {
  const paths = new Set(folders);
  // A set grows while it is read.
  for (const path of paths) {
    const { dependencies, optionalDependencies, peerDependencies } = lock[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = pathOf(name, path, lock);
      if (next !== undefined) paths.add(next);
    }
  }
  return [...paths].toSorted();
}

/** Whether a license, or an SPDX expression of licenses, allows to ship a package: one of those of `OR`, all of those of `AND`. */
export function isAllowed(license: string | undefined): boolean {
  if (license === undefined) return false;
  const parts = license.replaceAll(/[()]/g, "").split(" OR ");
  return parts.some((part) => part.split(" AND ").every((name) => allowedLicenses.has(name.trim())));
}
