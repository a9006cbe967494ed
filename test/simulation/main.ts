import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { stopWhenOutputCloses } from "../../packages/cli/src/terminal/closed-output.ts";
import { faultKinds, profiles, scheduleOf } from "./faults/profiles.ts";
import { mutants, simulateMutant } from "./mutants/mutants.ts";
import { keepRegression, regressionFolder } from "./regression.ts";
import { shrink } from "./shrink.ts";
import { simulate, type SimulationResult } from "./simulate.ts";

const usage = `usage: npm run simulate -- [flags]

The controllers in virtual time, with faults that a seed decides.

  --seeds N         how many seeds to run, from the one of --from on (default 20)
  --from N          the first seed (default 1)
  --random          seeds that no one has chosen, instead of --from
  --seed N          one seed, with its timeline
  --mutants         the first seed, of 200, that finds each deliberate mistake
  --profile NAME    the mix of faults (default mixed)
  --list            the profiles and the kinds of faults
  --help            this text
`;

/** A flag that is wrong. */
class UsageError extends Error {}

function wholeNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new UsageError(`--${name} ${text}: must be a whole number`);
  return value;
}

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: "string" },
        from: { type: "string" },
        random: { type: "boolean", default: false },
        seed: { type: "string" },
        mutants: { type: "boolean", default: false },
        profile: { type: "string", default: "mixed" },
        list: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function list(): void {
  print("Profiles:");
  for (const [name, { description }] of Object.entries(profiles)) print(`  ${name.padEnd(12)} ${description}`);
  print("Faults:");
  for (const [name, { maxMs }] of Object.entries(faultKinds))
    print(`  ${name.padEnd(18)} ${maxMs === 0 ? "at once" : `up to ${maxMs / 60_000} min`}`);
}

function sum(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const totals: Record<string, number> = {};
  for (const counts of all) for (const [key, value] of Object.entries(counts)) totals[key] = (totals[key] ?? 0) + value;
  return totals;
}

const inWords = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key} ${value}`)
    .join(", ");

function report(results: readonly SimulationResult[]): void {
  const days = results.reduce((total, { virtualMs }) => total + virtualMs, 0) / 86_400_000;
  const failed = results.filter(({ violations }) => violations.length > 0);
  print(
    `${results.length} seeds, ${days.toFixed(1)} virtual days, ${(process.cpuUsage().user / 1e6).toFixed(0)} s of CPU`,
  );
  print(`faults met: ${inWords(sum(results.map(({ faults }) => faults)))}`);
  print(`transitions: ${inWords(sum(results.map(({ transitions }) => transitions)))}`);
  print(`actions: ${inWords(sum(results.map(({ actions }) => actions)))}`);
  print(`${results.length - failed.length} passed, ${failed.length} failed`);
  for (const { schedule, violations } of failed)
    print(`failed: seed ${schedule.seed} of ${schedule.profile}: ${violations.join("; ")}`);
}

/** A failed schedule without what is not needed, as a file of test/simulation/regressions holds it. */
async function printSmallest({ schedule, violations }: SimulationResult): Promise<void> {
  const small = await shrink(schedule, async (tried) => (await simulate(tried)).violations.length > 0);
  const result = await simulate(small);
  for (const line of result.timeline) print(line);
  const violation = result.violations[0] ?? violations[0] ?? "";
  const file = keepRegression(regressionFolder, { violation, schedule: small });
  print(`the smallest schedule that fails has ${small.faults.length} faults; npm run test:simulation replays ${file}`);
}

const mostSeeds = 200;

/** Returns the status of the process: 1 when a mistake is not found. */
async function findMutants(): Promise<number> {
  let isMissed = false;
  for (const [name, mutant] of Object.entries(mutants)) {
    let found: string | undefined;
    for (let seed = 1; seed <= mostSeeds && found === undefined; seed++) {
      const { violations } = await simulateMutant(mutant, seed);
      if (violations.length > 0) found = `seed ${seed} of ${mutant.profile}: ${violations[0]}`;
    }
    isMissed ||= found === undefined;
    print(`${name.padEnd(24)} ${found ?? `not found by ${mostSeeds} seeds of ${mutant.profile}`}`);
  }
  return isMissed ? 1 : 0;
}

/** The first seed, and how many there are. */
function seedsOf({ seed, from, seeds, random }: ReturnType<typeof readFlags>) {
  if (seed !== undefined) return { first: wholeNumber("seed", seed, 1), seeds: 1 };
  return {
    first: wholeNumber("from", from, random ? randomInt(2 ** 31) : 1),
    seeds: wholeNumber("seeds", seeds, 20),
  };
}

async function main(): Promise<number> {
  const flags = readFlags();
  if (flags.help) return (print(usage), 0);
  if (flags.list) return (list(), 0);
  if (flags.mutants) return findMutants();
  if (profiles[flags.profile] === undefined)
    throw new UsageError(`--profile ${flags.profile}: must be one of ${Object.keys(profiles).join(", ")}`);
  const isOne = flags.seed !== undefined;
  const { first, seeds } = seedsOf(flags);
  const results: SimulationResult[] = [];
  for (let seed = first; seed < first + seeds; seed++) {
    const result = await simulate(scheduleOf(seed, flags.profile));
    results.push({ ...result, timeline: [] });
    if (isOne) for (const line of result.timeline) print(line);
    else if (result.violations.length > 0) await printSmallest(result);
    for (const violation of result.violations) print(`seed ${seed}: ${violation}`);
    if (isOne) print(`digest ${result.digest}`);
  }
  report(results);
  return results.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

stopWhenOutputCloses();
// Nothing has to be stopped in order, and no one reads what many seeds would still print.
process.once("SIGTERM", () => process.exit());
try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
