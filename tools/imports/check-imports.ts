/**
 * Fails when an import runs against the table in import-rules.ts, when a workspace is missing from the table, or when a
 * source imports a package that its package.json does not declare.
 */
import { readFileSync, readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { importRules, isTestFile, problemOf } from "./import-rules.ts";
import { readImports } from "./read-imports.ts";

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
for (const workspace of workspaces) {
  const manifest = manifestOf(workspace);
  if (importRules[workspace] === undefined) problems.push(`${workspace}: has no row in tools/imports/import-rules.ts`);
  const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
  const forTests = new Set(Object.keys(manifest.devDependencies ?? {}));
  for (const entry of readdirSync(join(root, workspace, "src"), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
    const file = relative(root, join(entry.parentPath, entry.name)).split(sep).join("/");
    const isTest = isTestFile(file);
    for (const found of readImports(file, readFileSync(join(root, file), "utf8"))) {
      const where = `${found.file}:${found.line}: import of "${found.specifier}"`;
      const problem = problemOf(found, (folder) => manifestOf(folder).name);
      if (problem !== undefined) problems.push(`${where}: ${problem}`);
      if (found.specifier.startsWith(".") || isBuiltin(found.specifier)) continue;
      const parts = found.specifier.split("/");
      const name = found.specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? found.specifier);
      if (name === manifest.name || declared.has(name) || (isTest && (sharedByTests.has(name) || forTests.has(name))))
        continue;
      problems.push(`${where}: ${name} is not in the dependencies of ${workspace}/package.json`);
    }
  }
}

for (const problem of problems) console.error(problem);
console.log(`import directions: ${workspaces.length} packages, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
