/**
 * Fails when an import runs against the table in import-rules.ts, when a workspace is missing from the table, when a source imports a package that
 * its package.json does not declare, when the folders of a package differ from the map in its README, or
 * when folders import each other in a circle. Circles of files are found by `npm run lint`.
 */
import { readFileSync, readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "../command-line.ts";
import { directionProblem, folderCycle, mapProblems, readFolderMap } from "./folder-map.ts";
import { importRules, isTestFile, problemOf } from "./import-rules.ts";
import { readImports } from "./read-imports.ts";

readCommandLine({
  usage: `usage: npm run imports

Checks imports, manifests and the folder maps of packages; status 1 if there are problems.`,
});

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;

const workspaces = ["packages", "providers"].flatMap((parent) =>
  readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${parent}/${entry.name}`),
);

/** Tests may use what the root installs for everybody; sources may use only what their own package declares. */
const sharedByTests = new Set(Object.keys(manifestOf(".").devDependencies ?? {}));

const problems: string[] = [];
let maps = 0;
for (const workspace of workspaces) {
  const manifest = manifestOf(workspace);
  if (importRules[workspace] === undefined) problems.push(`${workspace}: has no row in tools/imports/import-rules.ts`);
  const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
  const forTests = new Set(Object.keys(manifest.devDependencies ?? {}));
  const files = readdirSync(join(root, workspace, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.split(sep).join("/"));
  const map = readFolderMap(readFileSync(join(root, workspace, "README.md"), "utf8"));
  if (map !== undefined) {
    maps += 1;
    problems.push(...mapProblems(map, files).map((problem) => `${workspace}/README.md: its map ${problem}`));
  }
  // A package of files alone needs no map.
  else if (files.some((file) => file.includes("/"))) {
    problems.push(`${workspace}/README.md: has no map of its folders under "Where things are"`);
  }
  const inside: (readonly [string, string])[] = [];
  for (const inSource of files) {
    const file = `${workspace}/src/${inSource}`;
    const isTest = isTestFile(file);
    for (const found of readImports(file, readFileSync(join(root, file), "utf8"))) {
      const where = `${found.file}:${found.line}: import of "${found.specifier}"`;
      const problem = problemOf(found, (folder) => manifestOf(folder).name);
      if (problem !== undefined) problems.push(`${where}: ${problem}`);
      if (found.specifier.startsWith(".")) {
        const imported = posix.join(posix.dirname(inSource), found.specifier);
        inside.push([inSource, imported]);
        const against = map === undefined ? undefined : directionProblem(map, inSource, imported);
        if (against !== undefined) problems.push(`${where}: ${against} in the map of ${workspace}/README.md`);
      }
      if (found.specifier.startsWith(".") || isBuiltin(found.specifier)) continue;
      const parts = found.specifier.split("/");
      const name = found.specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? found.specifier);
      if (name === manifest.name || declared.has(name) || (isTest && (sharedByTests.has(name) || forTests.has(name))))
        continue;
      problems.push(`${where}: ${name} is not in the dependencies of ${workspace}/package.json`);
    }
  }
  const cycle = folderCycle(inside);
  if (cycle !== undefined) problems.push(`${workspace}/src: folders import each other in a circle: ${cycle}`);
}

for (const problem of problems) console.error(problem);
console.log(
  `import directions: ${workspaces.length} packages, ${maps} with a map of their folders, ${problems.length} problems`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
