/**
 * `npm test`. Without arguments nx runs the tests of each package, and repeats the output of those whose inputs did not change since they passed.
 * Arguments (files, parts of paths, options) go to one run of vitest, without the cache.
 *
 * Ends with a line for each failure and the line `N passed, N failed` over all packages.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import { createTotals } from "./totals.ts";

/** Packages at a time, and workers of each. More workers than processors, as tests of whole processes mostly wait. */
const [PACKAGES, WORKERS] = [3, Math.ceil(availableParallelism() / 2) + 1];

/** Projects of vitest.config.ts with commands of their own. */
const SLOW_PROJECTS = ["resilience", "simulation", "system", "clouds", "compat", "handover"];

const usage = `usage: npm test [-- FILE | PATH | flags of vitest…]

Runs the tests of each package, from the cache of nx where nothing changed; with arguments, one run of vitest without it (flags: npx vitest --help).
`;
const given = process.argv.slice(2);
if (given.includes("--help") || given.includes("-h")) {
  process.stdout.write(usage);
  process.exit(0);
}

process.exitCode = given.length > 0 ? await runSelected(given) : await runAll();

/** Resolves with the exit status. */
function runSelected(selection: readonly string[]): Promise<number> {
  const without = SLOW_PROJECTS.map((project) => `--project=!${project}`);
  return statusOf(spawn("vitest", ["run", ...without, ...selection], { stdio: "inherit" }));
}

async function runAll(): Promise<number> {
  const args = ["run-many", "-t", "test", "--output-style=static", `--parallel=${PACKAGES}`];
  // Other cases in every run: an earlier result is worth nothing.
  if (process.env["PROPERTY_SEED"] === "random") args.push("--skip-nx-cache");
  const color = process.stdout.isTTY ? "1" : "0";
  const env = { FORCE_COLOR: color, VITEST_MAX_WORKERS: String(WORKERS), ...process.env };
  const nx = spawn("nx", args, { stdio: ["inherit", "pipe", "inherit"], env });
  const ended = statusOf(nx);
  const totals = createTotals();
  for await (const line of createInterface({ input: nx.stdout })) {
    console.log(line);
    totals.read(line);
  }
  const status = await ended;
  for (const line of totals.closingLines(status)) console.log(line);
  return status;
}

function statusOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
