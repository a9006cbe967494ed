import type { DeclaredContractVersion } from "@millwright/core/driver-host";
import type { CheckResult } from "./check-result.ts";
import { reachedLevel } from "./level.ts";

/** Which driver was checked. */
export interface CheckedDriver {
  readonly name: string;
  readonly contractVersion: DeclaredContractVersion;
  /** Version of its package; absent for a single file. */
  readonly version?: string;
  /** `sha256:` and the digest of its files. */
  readonly digest?: string;
}

/** The outcome of a run. */
export interface ConformanceReport {
  readonly suiteVersion: string;
  readonly driver: CheckedDriver;
  readonly profile: string;
  /** Start of the names of its machines. */
  readonly runId: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly results: readonly CheckResult[];
  /** Whether all rules were checked, and not only some that were named. */
  readonly isComplete: boolean;
  /** What the run left in the cloud; empty if it passed. */
  readonly leftovers: readonly string[];
  /** Why the run ended before all checks were made. */
  readonly stopped?: string;
}

/** Whether the run ended, no check failed and nothing is left: the command exits with 0. */
export const isPassed = ({ results, leftovers, stopped }: ConformanceReport): boolean =>
  stopped === undefined && leftovers.length === 0 && results.every(({ status }) => status !== "failed");

/** The report as plain data, for programs. */
export function reportJson(report: ConformanceReport): object {
  const { level, missing } = reachedLevel(report.results);
  return {
    suiteVersion: report.suiteVersion,
    driver: report.driver,
    profile: report.profile,
    runId: report.runId,
    startedAt: report.startedAt.toISOString(),
    durationMs: report.durationMs,
    passed: isPassed(report),
    ...(report.isComplete ? { level, missing: missing.map(({ rule }) => rule.id) } : {}),
    leftovers: report.leftovers,
    ...(report.stopped === undefined ? {} : { stopped: report.stopped }),
    checks: report.results.map(({ rule: { id, title, mandatory, level: of }, status, reason, durationMs }) => ({
      id,
      title,
      mandatory,
      level: of,
      status,
      ...(reason === "" ? {} : { reason }),
      durationMs,
    })),
  };
}
