import type { ConditionState } from "../objects/conditions.ts";

/** A condition that is computed from objects and not stored in them. */
export interface DerivedCondition {
  readonly type: string;
  readonly status: ConditionState["status"];
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

/** Maximum length of a text of a provider or node in a condition. */
const longestText = 512;

/** Maximum length of the message of a condition: what the schema of metav1.Condition allows. */
const longestMessage = 32_768;

/** Truncates a text, with an ellipsis. */
const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);

/** Truncates a text of a provider or node. */
export const cutText = (text: string): string => cut(text, longestText);

/** Truncates a message to what the API accepts. */
export const cutMessage = (message: string): string => cut(message, longestMessage);

/**
 * What follows a heading such as `* Machine a:` (Cluster API, `util/conditions/merge_strategies.go` indentIfMultiline): a plain text on the same line, anything else on lines of its own, nested
 * under the heading. A line counts as bulleted when it has `* ` anywhere.
 */
export function indented(message: string): string {
  const lines = message.split("\n");
  const isBulleted = (line: string): boolean => line.includes("* ");
  if (lines.length === 1 && !isBulleted(message)) return ` ${message}`;
  const isAll = lines.every(isBulleted);
  const nested = lines.map((line) => `${isAll ? "  " : isBulleted(line) ? "    " : "  * "}${line}`);
  return `\n${nested.join("\n")}`;
}

/** The first three names, sorted, and how many more there are: `a, b, c, ... (2 more)`. */
export function shortenNames(names: readonly string[]): string {
  const shown = 3;
  const sorted = names.toSorted();
  const rest = sorted.length - shown;
  return `${sorted.slice(0, shown).join(", ")}${rest > 0 ? `, ... (${rest} more)` : ""}`;
}
