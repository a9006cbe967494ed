import type { ConditionStatus } from "@millwright/core";

/** A condition that is computed from objects and not stored in them. */
export interface DerivedCondition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  /** Empty when there is nothing to add. */
  readonly message: string;
  /** RFC 3339; the time of what the condition was derived from, so that it is stable between reconciles and restarts. */
  readonly lastTransitionTime?: string;
}

/** Which status of a condition type is good: True for `positive`, False for `negative`. */
export type Polarity = "positive" | "negative";

/** How much a condition matters in an aggregate. `info`: it is as it should be. */
export type Severity = "issue" | "unknown" | "info";

/** All severities, the worst first. */
export const severities: readonly Severity[] = ["issue", "unknown", "info"];

/** Severity of one condition (Cluster API, `util/conditions/merge_strategies.go` GetDefaultMergePriorityFunc). */
export function severityOf({ status }: Pick<DerivedCondition, "status">, polarity: Polarity): Severity {
  if (status === "Unknown") return "unknown";
  return (status === "True") === (polarity === "positive") ? "info" : "issue";
}

/** The reasons of an aggregated condition, by its result. */
export interface ReasonTrio {
  readonly issue: string;
  readonly unknown: string;
  readonly info: string;
}

/** Status and reason of an aggregated condition (Cluster API, `util/conditions/merge_strategies.go` Merge): the worst one decides. */
export function sumOf(
  present: ReadonlySet<Severity>,
  trio: ReasonTrio,
  polarity: Polarity,
): Pick<DerivedCondition, "status" | "reason"> {
  const worst = severities.find((severity) => present.has(severity)) ?? "info";
  const isPositive = polarity === "positive";
  switch (worst) {
    case "issue":
      return { status: isPositive ? "False" : "True", reason: trio.issue };
    case "unknown":
      return { status: "Unknown", reason: trio.unknown };
    case "info":
      return { status: isPositive ? "True" : "False", reason: trio.info };
  }
}
