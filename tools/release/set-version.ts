/** The parts of a package.json, or of an entry of package-lock.json, that a version is in. */
export interface Versioned {
  readonly name?: string;
  readonly version?: string;
  readonly [key: string]: unknown;
}

const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/**
 * A dependency range with another version, as exact or as wide as it was. `>=0.1.0 <1` ends at the next major version: the contract's version decides whether a driver
 * fits, while `^0.1.0` would refuse 0.2.0.
 */
function sameRange(range: string, version: string): string {
  if (range.startsWith(">=")) return `>=${version} <${Number.parseInt(version, 10) + 1}`;
  return `${/^[\^~]?/.exec(range)?.[0] ?? ""}${version}`;
}

/**
 * A manifest of this repository with its new version, and with that version in all that it depends on in this repository: the packages are released together.
 *
 * @param own names of the packages of this repository
 */
export function withVersion<T extends Versioned>(manifest: T, version: string, own: ReadonlySet<string>): T {
  return { ...manifest, version, ...rangesWithVersion(manifest, version, own) };
}

/** The dependencies of a manifest, with a version in those on packages of this repository. */
export function rangesWithVersion(manifest: Versioned, version: string, own: ReadonlySet<string>): object {
  const ranges = kinds.flatMap((kind) => {
    const found = manifest[kind];
    if (typeof found !== "object" || found === null) return [];
    const entries = Object.entries(found).map(([name, range]) => [
      name,
      own.has(name) ? sameRange(String(range), version) : range,
    ]);
    return [[kind, Object.fromEntries(entries)]];
  });
  return Object.fromEntries(ranges);
}

/** A package-lock.json with the version in every entry of this repository. */
export function lockWithVersion<T extends { readonly packages: Readonly<Record<string, Versioned>> }>(
  lock: T,
  version: string,
  own: ReadonlySet<string>,
): T {
  const entries = Object.entries(lock.packages).map(([path, entry]) => [
    path,
    path.includes("node_modules") ? entry : withVersion(entry, version, own),
  ]);
  return { ...lock, version, packages: Object.fromEntries(entries) };
}

/** A Chart.yaml of the version: of the chart, and of the image that it runs. */
export const chartWithVersion = (chart: string, version: string): string =>
  chart.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`);
