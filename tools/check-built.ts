/**
 * Runs what `npm run build` made, the way an installed package runs: without the source condition. A package whose build cannot be loaded, or a command
 * that does not start, fails here and not at a user's.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "./command-line.ts";
import { importRules } from "./imports/import-rules.ts";

readCommandLine({
  usage: `usage: npm run check:built

Loads the packages that npm run build made, starts the built command, and counts the modules that commands load;
status 1 if there are problems.`,
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

/** Writes the address and size of each module that a process loads to its standard error. */
const recorder = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const lines = [];
  registerHooks({ load(url, context, next) {
    const loaded = next(url, context);
    lines.push("loaded " + (loaded.source?.length ?? 0) + " " + url);
    return loaded;
  } });
  process.on("exit", () => process.stderr.write(lines.join("\\n")));
`)}`;

/** What a command may load: modules of Node and of files, and kilobytes of source. Their number decides how long a command takes that reads a few objects. */
const limits: Readonly<Record<string, readonly [modules: number, kilobytes: number]>> = {
  "--help": [32, 260],
  "describe machine a": [146, 1_700],
  "describe deployment a": [146, 1_700],
  "why machine/a": [146, 1_700],
  "drain a --dry-run": [142, 1_700],
  "approve --all --dry-run": [142, 1_700],
  "crds diff": [142, 1_700],
  "plan --scale a=1": [158, 2_700],
  "snapshot --file none.json": [158, 2_700],
  drift: [185, 2_700],
  doctor: [185, 2_700],
  uninstall: [185, 2_700],
};

/** A kubeconfig of a cluster that does not answer: port 1 has no listener. */
const kubeconfig = {
  clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }],
  users: [{ name: "u", user: { token: "t" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
};
const folder = mkdtempSync(join(tmpdir(), "millwright-built-"));
writeFileSync(join(folder, "kubeconfig"), JSON.stringify(kubeconfig));
for (const [line, [maxModules, maxKilobytes]] of Object.entries(limits)) {
  const words = ["--import", recorder, command, ...line.split(" ")];
  const env = { ...process.env, KUBECONFIG: join(folder, "kubeconfig"), NODE_DISABLE_COMPILE_CACHE: "1" };
  const { stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: "utf8", env });
  const loaded = [...stderr.matchAll(/^loaded (\d+) (.*)$/gm)].map(([, size, url]) => ({ size: Number(size), url }));
  const kilobytes = loaded.reduce((sum, { size }) => sum + size, 0) / 1_000;
  if (loaded.length === 0 || loaded.length > maxModules || kilobytes > maxKilobytes)
    problems.push(
      `millwright ${line}: loads ${loaded.length} modules of ${Math.round(kilobytes)} kB; at most ${maxModules} of ${maxKilobytes} kB`,
    );
  const unneeded =
    /node_modules\/(zod|yaml|prom-client|@opentelemetry|@kubernetes\/client-node\/dist\/(?!config_types))/;
  const names = new Set(loaded.flatMap(({ url = "" }) => unneeded.exec(url)?.[1] ?? []));
  if (names.size > 0) problems.push(`millwright ${line}: loads ${[...names].join(", ")}, which it does not need`);
}
rmSync(folder, { recursive: true });

for (const problem of problems) console.error(problem);
console.log(`built packages: ${Object.keys(importRules).length} loaded, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
