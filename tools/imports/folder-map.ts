/**
 * The folders of a package's `src` as its README lists them under "Where things are": uppermost first, without the slash at the end. What is in one
 * may import only from those below it and from the files at the top of `src`, which import from no folder. A folder may be nested: `api/kinds`.
 */
export type FolderMap = readonly string[];

/** Reads the map of a README; undefined when it has no such table, so that there is nothing to keep. */
export function readFolderMap(readme: string): FolderMap | undefined {
  const section = readme.split(/^## /m).find((part) => part.startsWith("Where things are\n"));
  if (section === undefined || !/^\| folder /m.test(section)) return undefined;
  return Array.from(section.matchAll(/^\| `([a-z0-9/-]+)\/` /gm), ([, folder = ""]) => folder);
}

/** Where a file stands: the folder of the map that holds it, "" for a file at the top, undefined for one that no folder of the map holds. */
function placeOf(map: FolderMap, file: string): string | undefined {
  if (!file.includes("/")) return "";
  const holding = map.filter((folder) => file.startsWith(`${folder}/`));
  return holding.toSorted((one, other) => other.length - one.length)[0];
}

/** Where the map and the files of `src` differ, as sentences; paths are relative to `src`. */
export function mapProblems(map: FolderMap, files: readonly string[]): readonly string[] {
  const places = new Set(files.map((file) => placeOf(map, file)));
  return [
    ...files.filter((file) => placeOf(map, file) === undefined).map((file) => `has no folder for src/${file}`),
    ...map.filter((folder) => !places.has(folder)).map((folder) => `has ${folder}/, where no file is`),
  ];
}

/**
 * Says why a file may not import another one of its package, or `undefined` when it may; paths are relative to `src`. Tests may look anywhere. What is in
 * no folder of the map is for {@link mapProblems} to tell.
 */
export function directionProblem(map: FolderMap, file: string, imported: string): string | undefined {
  if (file.endsWith(".test.ts") || file === "index.ts") return undefined;
  if (imported === "index.ts") return "what a package consists of may not import the whole";
  const from = placeOf(map, file);
  const to = placeOf(map, imported);
  if (from === undefined || to === undefined || to === "" || from === to) return undefined;
  if (from === "") return `a file at the top may not import from ${to}/`;
  return map.indexOf(to) < map.indexOf(from) ? `${from}/ stands below ${to}/` : undefined;
}
