import type { KnownRule } from "../rules/registry.ts";

/** `skipped`: it could not be checked, which blocks its level. `notApplicable`: the rule does not hold for this driver or cloud. */
export type CheckStatus = "passed" | "failed" | "skipped" | "notApplicable";

/** The outcome of one check. */
export interface CheckResult {
  readonly rule: KnownRule;
  readonly status: CheckStatus;
  /** Why it did not pass; empty if it did. */
  readonly reason: string;
  readonly durationMs: number;
}
