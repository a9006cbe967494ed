import {
  type DerivedCondition,
  type Polarity,
  type ReasonTrio,
  severities,
  type Severity,
  severityOf,
  sumOf,
  cutMessage,
  indented,
  shortenNames,
} from "./derived-condition.ts";

/** An object whose condition of one type is aggregated. */
export interface AggregateSource {
  readonly kind: string;
  readonly name: string;
  /** Absent: not reported, which is Unknown. */
  readonly condition: DerivedCondition | undefined;
}

/** What is aggregated, and into what. */
export interface AggregateOptions {
  /** Type of the condition in the sources. */
  readonly sourceType: string;
  /** Polarity of the source type. */
  readonly polarity?: Polarity;
  /** Type of the result. */
  readonly type: string;
  /** Polarity of the result. */
  readonly resultPolarity?: Polarity;
  readonly reasons: ReasonTrio;
  /** Reason when there is nothing to aggregate; the result is then as good as it can be. */
  readonly emptyReason: string;
}

/** Messages that an aggregate shows, over all kinds; the rest is counted. */
const shownMessages = 3;

const restTexts: Readonly<Record<Severity, string>> = {
  issue: "with other issues",
  unknown: "with status unknown",
  info: "with additional info",
};

interface Item {
  readonly kind: string;
  readonly name: string;
  readonly severity: Severity;
  readonly message: string;
  readonly time: string;
}

interface Group {
  readonly message: string;
  readonly severity: Severity;
  readonly names: readonly string[];
}

const rank = (severity: Severity): number => severities.indexOf(severity);

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function itemOf({ kind, name, condition }: AggregateSource, sourceType: string, polarity: Polarity): Item {
  if (condition === undefined) {
    return { kind, name, severity: "unknown", message: `Condition ${sourceType} not yet reported`, time: "" };
  }
  const { message, lastTransitionTime: time = "" } = condition;
  return { kind, name, severity: severityOf(condition, polarity), message, time };
}

/** The plural of a kind, as in `Machines`. */
const plural = (kind: string, count: number): string => (count === 1 ? kind : `${kind}s`);

/** Items of one kind by message: the worst first, then the most frequent, then by name. */
function groupsOf(items: readonly Item[]): readonly Group[] {
  // Thousands of machines may have the same message: their names are collected in place.
  const groups = new Map<string, { readonly message: string; severity: Severity; readonly names: string[] }>();
  for (const { message, severity, name } of items) {
    const group = groups.get(message);
    if (group === undefined) {
      groups.set(message, { message, severity, names: [name] });
      continue;
    }
    group.names.push(name);
    if (rank(severity) < rank(group.severity)) group.severity = severity;
  }
  return [...groups.values()].toSorted(
    (a, b) =>
      rank(a.severity) - rank(b.severity) ||
      b.names.length - a.names.length ||
      compareText(a.names.join(","), b.names.join(",")),
  );
}

/** What is not shown of one kind, counted in objects. */
function restLines(kind: string, hidden: readonly Group[]): readonly string[] {
  return severities.flatMap((severity) => {
    const count = hidden
      .filter((group) => group.severity === severity)
      .reduce((sum, { names }) => sum + names.length, 0);
    return count === 0 ? [] : [`And ${count} ${plural(kind, count)} ${restTexts[severity]}`];
  });
}

/**
 * Aggregates the conditions of one type of many objects into one (Cluster API, `util/conditions/aggregate.go`). Issues and unknowns hide what is well;
 * equal messages are listed once, with the names of the objects; at most three are listed, the rest is counted. No objects are no issue.
 */
export function aggregateConditions(
  sources: readonly AggregateSource[],
  { sourceType, polarity = "positive", type, resultPolarity = "positive", reasons, emptyReason }: AggregateOptions,
): Pick<DerivedCondition, "type" | "status" | "reason" | "message"> {
  if (sources.length === 0)
    return { type, status: resultPolarity === "positive" ? "True" : "False", reason: emptyReason, message: "" };
  const items = sources
    .map((source) => itemOf(source, sourceType, polarity))
    .toSorted((a, b) => compareText(a.time, b.time) || compareText(a.name, b.name));
  const result = sumOf(new Set(items.map(({ severity }) => severity)), reasons, resultPolarity);
  const isWell = items.every(({ severity }) => severity === "info");
  const listed = items.filter(({ severity, message }) => (isWell ? message !== "" : severity !== "info"));

  let budget = shownMessages;
  const lines: string[] = [];
  for (const kind of [...new Set(listed.map((item) => item.kind))].toSorted()) {
    const groups = groupsOf(listed.filter((item) => item.kind === kind));
    const shown = groups.slice(0, budget);
    budget -= shown.length;
    lines.push(
      ...shown.map(
        ({ names, message }) => `* ${plural(kind, names.length)} ${shortenNames(names)}:${indented(message)}`,
      ),
      ...restLines(kind, groups.slice(shown.length)),
    );
  }
  return { type, ...result, message: cutMessage(lines.join("\n")) };
}
