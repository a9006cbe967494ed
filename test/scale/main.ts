/** `npm run bench`: runs scenarios of machines on an API server and measures the controllers; see options.ts for the flags. */
import { execFileSync } from "node:child_process";
import { cpus, release, totalmem, type } from "node:os";
import { readCommandLine } from "../../tools/command-line.ts";
import { isCannotBuildError } from "../../tools/control-plane/cannot-build-error.ts";
import { benchFlags, type BenchPlan, planBench, type PlannedRun, scenarioList, usage } from "./options.ts";
import { createProgress } from "./progress.ts";
import { reportOf, sideBySide } from "./report/print-result.ts";
import { baselineFile, readResults, resultsFolder, saveResult, writeResult } from "./report/results-files.ts";
import type { Computer, RunResult } from "./report/run-result.ts";
import { runScenario } from "./run-scenario.ts";
import { floor, sameRequests } from "./subjects/floor.ts";
import { goMcm } from "./subjects/go-mcm.ts";
import { type Build, defaultBuild, millwright } from "./subjects/millwright.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import type { Subject } from "./subjects/subject.ts";
import { startDevcluster } from "./world/devcluster.ts";
import { startRealCluster } from "./world/real-cluster.ts";

const GIB = 2 ** 30;

const computer = (): Computer => ({
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / GIB),
  system: `${type()} ${release().split("-")[0] ?? ""}`,
  node: process.version,
});

/** The present commit, with `+` when sources of packages were changed. */
function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  try {
    return (
      git("rev-parse", "--short", "HEAD") +
      (git("status", "--porcelain", "--", "../../packages", "../../providers") === "" ? "" : "+")
    );
  } catch {
    return "unknown";
  }
}

/** Millwright first, then what is measured beside it. */
const subjectsOf = ({ flags, withFloor, withGoMcm, goMcmFlags }: BenchPlan, build: Build): readonly Subject[] => [
  millwright(build, flags),
  ...(withFloor ? [floor(), sameRequests()] : []),
  ...(withGoMcm ? [goMcm(goMcmFlags)] : []),
];

/** Whether a scenario makes sense for a subject. */
function canMeasure(
  { hasFloor = false, hasSameRequests = false, isOnlyMillwright = false }: Scenario,
  { name }: Subject,
): boolean {
  if (name === "floor") return hasFloor;
  if (name === "same-requests") return hasSameRequests;
  return name === "millwright" || !isOnlyMillwright;
}

/** Runs the command; resolves with its exit status. */
async function main(signal: AbortSignal): Promise<number> {
  const { values } = readCommandLine({ usage, options: benchFlags });
  if (values.list === true) {
    console.log(scenarioList());
    return 0;
  }
  const plan = planBench(values);
  if ("problem" in plan) {
    console.error(`${plan.problem}\n${usage}`);
    return 2;
  }
  const { build, because } = plan.build === undefined ? defaultBuild() : { build: plan.build, because: "--build" };
  console.log(`measuring millwright run: ${build} (${because})`);
  const subjects = subjectsOf(plan, build);
  const startCluster = plan.onDevcluster ? startDevcluster : startRealCluster;

  const measure = async ({ scenario, size }: PlannedRun, subject: Subject): Promise<RunResult> => {
    const progress = createProgress(process.stderr, `${scenario.name} ${size.machines}, ${subject.name}:`, () =>
      performance.now(),
    );
    const onProgress = (text: string): void => progress.report(text);
    try {
      const measured = await runScenario({ scenario, size, subject, startCluster, onProgress, signal });
      const identity = { scenario: scenario.name, subject: subject.name, build: subject.build, ...size };
      return { ...identity, commit: commit(), date: new Date().toISOString(), computer: computer(), ...measured };
    } finally {
      progress.clear();
    }
  };

  for (const run of plan.runs) {
    const results: RunResult[] = [];
    for (const subject of subjects) {
      if (!canMeasure(run.scenario, subject)) {
        console.log(`${run.scenario.name}: not measured with ${subject.name}\n`);
        continue;
      }
      const result = await measure(run, subject);
      results.push(result);
      console.log(reportOf(result, readResults(baselineFile)));
      console.log(`  stored in ${writeResult(plan.results ?? resultsFolder, result)}\n`);
      if (plan.isSaved) saveResult(baselineFile, result);
    }
    const [ours, ...others] = results;
    if (ours !== undefined) for (const other of others) console.log(sideBySide(ours, other));
  }
  return 0;
}

const interrupted = new AbortController();
const stopped = new Error("interrupted");
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => interrupted.abort(stopped));
try {
  process.exitCode = await main(interrupted.signal);
} catch (error) {
  if (!interrupted.signal.aborted && !isCannotBuildError(error)) throw error;
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = interrupted.signal.aborted ? 130 : 1;
}
