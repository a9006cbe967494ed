import { type Scenario, type Size } from "./scenarios/scenario.ts";
import { scenarios } from "./scenarios/all-scenarios.ts";

/** Flags of `npm run bench`, for `parseArgs`. */
export const benchFlags = {
  scenario: { type: "string", multiple: true },
  machines: { type: "string" },
  minutes: { type: "string" },
  long: { type: "boolean" },
  devcluster: { type: "boolean" },
  "go-mcm": { type: "boolean" },
  "go-mcm-flag": { type: "string", multiple: true },
  floor: { type: "boolean" },
  build: { type: "string" },
  flag: { type: "string", multiple: true },
  results: { type: "string" },
  save: { type: "boolean" },
  list: { type: "boolean" },
} as const;

/** The help text. */
export const usage = `usage: npm run bench -- [--scenario NAME]… [options]

Measures millwright run on a real kube-apiserver and etcd: requests, CPU, memory, latencies. Prints a comparison with the committed results
(test/scale/baseline.json).

--list           lists the scenarios with their sizes
--scenario NAME  a scenario; may be repeated (default: all)
--machines N     size of the scenarios (default: that of --list)
--minutes M      duration of the scenarios that have a fixed one
--long           the large default sizes
--devcluster     on a devcluster instead of kube-apiserver
--go-mcm         runs Gardener's MCM in the same scenarios, too, and prints ratios
--go-mcm-flag F  a flag of both of its programs, such as --go-mcm-flag=--kube-api-qps=1000; may be repeated
--floor          runs a program in create and scale-to-zero, too, that makes only the requests that no controller can do without, and in
                 scale-to-zero one that makes those of Millwright, without deciding anything
--build BUILD    built: what npm run build made; source: the sources (default: built, unless it is older than the sources)
--flag FLAG      a flag of millwright run, such as --flag=--concurrent-syncs=20; may be repeated
--results DIR    folder for the results (default: test/scale/results)
--save           stores the results in test/scale/baseline.json, too, from which npm run docs writes tables and charts`;

/** A scenario with its size. */
export interface PlannedRun {
  readonly scenario: Scenario;
  readonly size: Size;
}

/** What the flags mean. */
export interface BenchPlan {
  readonly runs: readonly PlannedRun[];
  readonly onDevcluster: boolean;
  readonly withGoMcm: boolean;
  readonly goMcmFlags: readonly string[];
  readonly withFloor: boolean;
  /** Absent: to be chosen by what is there. */
  readonly build: "built" | "source" | undefined;
  readonly flags: readonly string[];
  readonly results: string | undefined;
  readonly isSaved: boolean;
}

/** Values of {@link benchFlags}. */
export interface BenchFlags {
  readonly scenario?: readonly string[] | undefined;
  readonly machines?: string | undefined;
  readonly minutes?: string | undefined;
  readonly long?: boolean | undefined;
  readonly devcluster?: boolean | undefined;
  readonly "go-mcm"?: boolean | undefined;
  readonly "go-mcm-flag"?: readonly string[] | undefined;
  readonly floor?: boolean | undefined;
  readonly build?: string | undefined;
  readonly flag?: readonly string[] | undefined;
  readonly results?: string | undefined;
  readonly save?: boolean | undefined;
}

/** What is wrong with the flags. */
export interface FlagProblem {
  readonly problem: string;
}

/** Decides what to run, or why that is not possible. */
export function planBench(flags: BenchFlags): BenchPlan | FlagProblem {
  const machines = readNumber("--machines", flags.machines, Number.isInteger);
  const minutes = readNumber("--minutes", flags.minutes, Number.isFinite);
  for (const read of [machines, minutes]) if (typeof read === "object") return read;
  const { build } = flags;
  if (build !== undefined && build !== "built" && build !== "source")
    return { problem: `--build is "${build}"; expected built or source` };
  const names = flags.scenario ?? scenarios.map(({ name }) => name);
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined)
    return { problem: `unknown scenario "${unknown}"; there are ${scenarios.map(({ name }) => name).join(", ")}` };
  const sizeOf = (scenario: Scenario): Size => {
    const { machines: count, minutes: duration } = flags.long === true ? scenario.long : scenario.short;
    return {
      machines: typeof machines === "number" ? machines : count,
      ...(duration === undefined ? {} : { minutes: typeof minutes === "number" ? minutes : duration }),
    };
  };
  return {
    runs: scenarios
      .filter(({ name }) => names.includes(name))
      .map((scenario) => ({ scenario, size: sizeOf(scenario) })),
    onDevcluster: flags.devcluster === true,
    withGoMcm: flags["go-mcm"] === true,
    goMcmFlags: flags["go-mcm-flag"] ?? [],
    withFloor: flags.floor === true,
    build,
    flags: flags.flag ?? [],
    results: flags.results,
    isSaved: flags.save === true,
  };
}

function readNumber(
  flag: string,
  text: string | undefined,
  isValid: (value: number) => boolean,
): number | FlagProblem | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  return text.trim() !== "" && isValid(value) && value > 0
    ? value
    : { problem: `${flag} is "${text}"; expected a number above 0` };
}

/** The text of `--list`. */
export function scenarioList(): string {
  const size = ({ machines, minutes }: Size): string =>
    minutes === undefined ? `${machines}` : `${machines}, ${minutes} min`;
  return scenarios
    .map(
      ({ name, measures, short, long }) =>
        `${name.padEnd(20)}${size(short)} machines; --long ${size(long)}: ${measures}`,
    )
    .join("\n");
}
