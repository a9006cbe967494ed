import { type ConformanceLevel, conformanceLevels } from "../rules/rule.ts";
import type { CheckResult } from "./check-result.ts";

/** The level that a run reached. */
export interface ReachedLevel {
  /** `none`: not even the first. */
  readonly level: ConformanceLevel | "none";
  /** Checks that the next level requires and that did not pass. Empty for the highest level. */
  readonly missing: readonly CheckResult[];
}

/**
 * The highest level whose rules all passed or do not apply, and whose lower levels were reached. A skipped check blocks its level: it is not known whether the driver
 * keeps the rule.
 */
export function reachedLevel(results: readonly CheckResult[]): ReachedLevel {
  let level: ReachedLevel["level"] = "none";
  for (const next of conformanceLevels) {
    const missing = results.filter(
      ({ rule, status }) => rule.level === next && (status === "failed" || status === "skipped"),
    );
    if (missing.length > 0) return { level, missing };
    level = next;
  }
  return { level, missing: [] };
}
