import { posix } from "node:path";

/**
 * The places in a package's `src` as its README lists them under "Where things are", uppermost first: folders without the slash at the end, and "" for
 * the files at the top of `src`. What is in one may import only from the same and from those below it. A folder may be nested: `api/kinds`.
 */
export type FolderMap = readonly string[];

/** Reads the map of a README; undefined when it has no such table. */
export function readFolderMap(readme: string): FolderMap | undefined {
  const section = readme.split(/^## /m).find((part) => part.startsWith("Where things are\n"));
  if (section === undefined || !/^\| folder /m.test(section)) return undefined;
  return Array.from(section.matchAll(/^\| (?:`([a-z0-9/-]+)\/`|\(top\)) /gm), ([, folder = ""]) => folder);
}

/** The place that holds a file: the innermost folder of the map, or undefined when it has none. */
function placeOf(map: FolderMap, file: string): string | undefined {
  return map
    .filter((place) => (place === "" ? !file.includes("/") : file.startsWith(`${place}/`)))
    .toSorted((one, other) => other.length - one.length)[0];
}

const nameOf = (place: string): string => (place === "" || place === "." ? "(top)" : `${place}/`);

/** Where the map and the files of `src` differ, as the ends of sentences; paths are relative to `src`. */
export function mapProblems(map: FolderMap, files: readonly string[]): readonly string[] {
  const places = new Set(files.map((file) => placeOf(map, file)));
  return [
    ...files.filter((file) => placeOf(map, file) === undefined).map((file) => `has no row for src/${file}`),
    ...map.filter((place) => !places.has(place)).map((place) => `has a row for ${nameOf(place)}, where no file is`),
  ];
}

/**
 * Finds folders that import each other in a circle, also through others and within one row of a map: `a > b > a`. Paths are relative to `src`;
 * undefined when there is none. Tests and index.ts do not count.
 */
export function folderCycle(imports: Iterable<readonly [file: string, imported: string]>): string | undefined {
  const importedBy = new Map<string, Set<string>>();
  for (const [file, imported] of imports) {
    const [from, to] = [posix.dirname(file), posix.dirname(imported)];
    if (from === to || file.endsWith(".test.ts") || file === "index.ts") continue;
    importedBy.set(from, (importedBy.get(from) ?? new Set()).add(to));
  }
  const finished = new Set<string>();
  const visit = (folder: string, path: readonly string[]): string | undefined => {
    if (path.includes(folder)) return [...path.slice(path.indexOf(folder)), folder].map(nameOf).join(" > ");
    if (finished.has(folder)) return undefined;
    for (const imported of importedBy.get(folder) ?? []) {
      const cycle = visit(imported, [...path, folder]);
      if (cycle !== undefined) return cycle;
    }
    finished.add(folder);
    return undefined;
  };
  for (const folder of importedBy.keys()) {
    const cycle = visit(folder, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/**
 * Why a file may not import another one of its package, or `undefined` when it may; paths are relative to `src`. Tests may import anything, and so may
 * index.ts, which nothing else imports. Folders without a row are reported by {@link mapProblems}.
 */
export function directionProblem(map: FolderMap, file: string, imported: string): string | undefined {
  if (file.endsWith(".test.ts") || file === "index.ts") return undefined;
  if (imported === "index.ts") return "a part of a package may not import the whole";
  const from = placeOf(map, file);
  const to = placeOf(map, imported);
  if (from === undefined || to === undefined || map.indexOf(to) >= map.indexOf(from)) return undefined;
  return `${nameOf(from)} stands below ${nameOf(to)}`;
}
