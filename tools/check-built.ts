/**
 * Runs what `npm run build` made, the way an installed package runs: without the source condition. A package whose build cannot be loaded, or a command
 * that does not start, fails here and not at a user's.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "./command-line.ts";
import { importRules } from "./imports/import-rules.ts";

readCommandLine({
  usage: `usage: npm run check:built

Loads the packages that npm run build made, and starts the built command; status 1 if there are problems.`,
});

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const problems: string[] = [];

for (const workspace of Object.keys(importRules)) {
  const { name } = JSON.parse(readFileSync(join(root, workspace, "package.json"), "utf8")) as { name: string };
  try {
    const url = import.meta.resolve(name);
    if (!url.endsWith("/dist/index.js")) problems.push(`${name}: resolves to ${url}, not to its build`);
    if (Object.keys((await import(name)) as object).length === 0) problems.push(`${name}: exports nothing`);
  } catch (error) {
    problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

// Has no main module.
for (const name of ["arm", "ec2", "gce", "replay", "server"].map((part) => `@millwright/emulators/${part}`)) {
  try {
    if (Object.keys((await import(name)) as object).length === 0) problems.push(`${name}: exports nothing`);
  } catch (error) {
    problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const command = join(root, "packages/cli/dist/bin.js");
const run = (...args: string[]): string => execFileSync(process.execPath, [command, ...args], { encoding: "utf8" });
if (!run("version").startsWith("millwright ")) problems.push("millwright version: prints no version");
if (run("crds").split("kind: CustomResourceDefinition").length !== 5)
  problems.push("millwright crds: does not print four CRDs");

for (const problem of problems) console.error(problem);
console.log(`built packages: ${Object.keys(importRules).length} loaded, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
