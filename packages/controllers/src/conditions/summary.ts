import {
  type DerivedCondition,
  type Polarity,
  type ReasonTrio,
  type Severity,
  severityOf,
  sumOf,
} from "./derived-condition.ts";
import { cutMessage, indented } from "./message-lines.ts";

/** One condition of an object that goes into the sum of that object. */
export interface SummaryPart {
  readonly type: string;
  readonly polarity: Polarity;
  /** Absent: it has not been reported, which is Unknown. */
  readonly condition: DerivedCondition | undefined;
  /** Counts instead of what status and polarity say, as when an object is deleted and its parts are gone, as they should be. */
  readonly severity?: Severity;
}

const unreported = "Condition not yet reported";

/**
 * Sums several conditions of one object up in one (Cluster API, `util/conditions/summary.go`): a line for each that is not as it should be, in the given order; what is
 * as it should be is only told when everything is.
 */
export function summary(
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
  const told = judged.filter(({ severity, text }) => text !== "" && (severity !== "info" || result.status === "True"));
  const lines = told.map((part) => `* ${part.type}:${indented(part.text)}`);
  return { type, ...result, message: cutMessage(lines.join("\n")) };
}
