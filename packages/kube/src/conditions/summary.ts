import {
  type DerivedCondition,
  type Polarity,
  type ReasonTrio,
  type Severity,
  severityOf,
  sumOf,
  cutMessage,
  indented,
} from "./derived-condition.ts";

/** One condition of an object that is summarized. */
export interface SummaryPart {
  readonly type: string;
  readonly polarity: Polarity;
  /** Absent: not reported, which is Unknown. */
  readonly condition: DerivedCondition | undefined;
  /** Overrides the severity by status and polarity, for conditions that are expected to be False during a deletion. */
  readonly severity?: Severity;
}

const unreported = "Condition not yet reported";

/**
 * Summarizes several conditions of one object in one (Cluster API, `util/conditions/summary.go`): a line for each that is not as it should be, in the given order; what is
 * as it should be is listed only when everything is.
 */
export function summarizeConditions(
  type: string,
  parts: readonly SummaryPart[],
  trio: ReasonTrio,
): Pick<DerivedCondition, "type" | "status" | "reason" | "message"> {
  const judged = parts.map((part) => {
    const { condition, polarity } = part;
    const severity = part.severity ?? (condition === undefined ? "unknown" : severityOf(condition, polarity));
    const message = condition === undefined ? unreported : condition.message;
    return {
      type: part.type,
      severity,
      text: message === "" && severity !== "info" ? (condition?.reason ?? "") : message,
    };
  });
  const result = sumOf(new Set(judged.map(({ severity }) => severity)), trio, "positive");
  const listed = judged.filter(
    ({ severity, text }) => text !== "" && (severity !== "info" || result.status === "True"),
  );
  const lines = listed.map((part) => `* ${part.type}:${indented(part.text)}`);
  return { type, ...result, message: cutMessage(lines.join("\n")) };
}
