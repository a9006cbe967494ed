import { ConfigError, nearestName } from "@millwright/base";
import { createCheckContext } from "./checks/check.ts";
import { leftovers } from "./checks/nothing-left.ts";
import { createCheckRunner } from "./checks/run-check.ts";
import { sweepEarlier, sweepOwn } from "./checks/sweep.ts";
import type { CheckResult } from "./report/check-result.ts";
import type { ConformanceReport } from "./report/report.ts";
import { contractRules, type KnownRule } from "./rules/registry.ts";
import { type ConformanceOptions, openSession, type Session } from "./session/session.ts";
import { suiteVersion } from "./suite-version.ts";

/** Options of {@link runConformance}. */
export interface RunConformanceOptions extends ConformanceOptions {
  /** Ids of rules, or their first parts, such as `create`. Default: all. */
  readonly only?: readonly string[];
  /** Version of the driver's package, for the report. */
  readonly version?: string;
  /** Digest of the driver's files, for the report. */
  readonly digest?: string;
  /** Stops the run after the check that is in progress; the rest is skipped. */
  readonly signal?: AbortSignal;
  /** Called after each check. */
  readonly onResult?: (result: CheckResult) => void;
}

/** What was probably meant: the rules of a method that exists, or the nearest name; else all first parts. */
function suggestionFor(name: string): string {
  const areas = [...new Set(contractRules.map(({ id }) => id.split(".")[0] ?? ""))];
  const [area = ""] = name.split(".");
  const inArea = contractRules.filter(({ id }) => id.startsWith(`${area}.`)).map(({ id }) => id);
  const near = nearestName(name, [...areas, ...contractRules.map(({ id }) => id)]);
  if (near !== undefined) return `did you mean ${near}?`;
  return inArea.length > 0 ? `there are ${inArea.join(", ")}` : `rules begin with ${areas.join(", ")}`;
}

/**
 * The rules that are checked.
 *
 * @throws ConfigError for an unknown id
 */
export function selectRules(only: readonly string[] = []): readonly KnownRule[] {
  const matches = (name: string, { id }: KnownRule): boolean => id === name || id.startsWith(`${name}.`);
  for (const name of only) {
    if (!contractRules.some((rule) => matches(name, rule)))
      throw new ConfigError(`there is no rule "${name}"; ${suggestionFor(name)}`);
  }
  if (only.length === 0) return contractRules;
  return contractRules.filter((rule) => only.some((name) => matches(name, rule)));
}

/** What is left at the end; a cloud that cannot be read counts as not empty. */
async function leftAtEnd(session: Session): Promise<readonly string[]> {
  try {
    return await leftovers(createCheckContext(session, () => 0).context);
  } catch {
    return ["unknown: the cloud cannot be read"];
  }
}

/**
 * Checks a driver and returns the report. Failed checks are results, not exceptions.
 *
 * @throws ConfigError without driver, class or secret, for a class that the driver rejects, or an unknown rule
 */
export async function runConformance(options: RunConformanceOptions): Promise<ConformanceReport> {
  const rules = selectRules(options.only);
  const session = await openSession(options);
  const startedAt = session.clock.now();
  const startedMs = session.clock.monotonicMs();
  try {
    await sweepEarlier(session);
    const runCheck = createCheckRunner(session);
    const results: CheckResult[] = [];
    for (const rule of rules) {
      if (options.signal?.aborted === true) session.stopped ??= "The run was stopped.";
      const result = await runCheck(rule);
      results.push(result);
      options.onResult?.(result);
    }
    const { name, contractVersion } = session.driver;
    const left = await leftAtEnd(session);
    await sweepOwn(session);
    return {
      suiteVersion: suiteVersion(),
      driver: {
        name,
        contractVersion,
        ...(options.version === undefined ? {} : { version: options.version }),
        ...(options.digest === undefined ? {} : { digest: options.digest }),
      },
      profile: session.profileName,
      runId: session.namePrefix,
      startedAt,
      durationMs: Math.round(session.clock.monotonicMs() - startedMs),
      results,
      isComplete: rules.length === contractRules.length,
      leftovers: left,
      ...(session.stopped === undefined ? {} : { stopped: session.stopped }),
    };
  } finally {
    await session.close();
  }
}
