import { joinPath, type FieldProblem } from "../problems/field-problem.ts";
import type { LabelSelector, LabelSelectorRequirement } from "./label-selector-schema.ts";
import { labelKeyProblem, labelValueProblem } from "./label-syntax.ts";

type Labels = Readonly<Record<string, string>>;

/** One requirement of a parsed selector. `values` is empty for Exists and DoesNotExist. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: ReadonlySet<string>;
}

/** A selector that is ready to match: all requirements must hold. Make it once per selector with {@link parseLabelSelector}. */
export interface LabelMatcher {
  readonly requirements: readonly LabelRequirement[];
}

/** What parsing a selector gave. */
export type ParseLabelSelectorResult =
  | { readonly ok: true; readonly matcher: LabelMatcher }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

const noValues: ReadonlySet<string> = new Set();

/**
 * Reads a label selector. `matchLabels` and `matchExpressions` together are requirements that must all hold. Problems:
 * an unknown operator, values where there must be none or none where there must be some, keys and values that no label has.
 * `path` is put before the paths of the problems. Source: kubernetes.io, "Labels and Selectors".
 */
export function parseLabelSelector(selector: LabelSelector, path = "selector"): ParseLabelSelectorResult {
  const problems: FieldProblem[] = [];
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    problems.push(...labelProblems(key, value, joinPath(`${path}.matchLabels`, key)));
    requirements.push({ key, operator: "In", values: new Set([value]) });
  }
  for (const [index, expression] of (selector.matchExpressions ?? []).entries()) {
    const at = joinPath(`${path}.matchExpressions`, index);
    const requirement = parseRequirement(expression, at, problems);
    if (requirement) requirements.push(requirement);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, matcher: { requirements } };
}

/** Whether labels fulfill all requirements. A label that is missing fulfills NotIn and DoesNotExist. */
export function matchesLabels(matcher: LabelMatcher, labels: Labels | undefined): boolean {
  return matcher.requirements.every((requirement) => holds(requirement, labels ?? {}));
}

/**
 * Whether a selector matches whatever labels there are, because it has no requirement.
 * Such a selector would take over every object of the namespace.
 */
export function selectsEverything(matcher: LabelMatcher): boolean {
  return matcher.requirements.length === 0;
}

/**
 * Whether a selector as written selects labels; false for no selector and for one that does not parse. Parses each time:
 * for many objects use {@link parseLabelSelector} once and {@link matchesLabels}.
 */
export function selectorMatches(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  if (!selector) return false;
  const parsed = parseLabelSelector(selector);
  return parsed.ok && matchesLabels(parsed.matcher, labels);
}

/** Why labels do not fulfill a matcher, one text per requirement that does not hold; empty when they match. */
export function unmetRequirements(matcher: LabelMatcher, labels: Labels | undefined): readonly string[] {
  return matcher.requirements.filter((requirement) => !holds(requirement, labels ?? {})).map(describe);
}

function holds({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  const listed = value !== undefined && values.has(value);
  return operator === "In" ? listed : !listed;
}

function describe({ key, operator, values }: LabelRequirement): string {
  const [first] = values;
  if (operator === "In" && values.size === 1) return `${key}=${first}`;
  return values.size === 0 ? `${key} ${operator}` : `${key} ${operator} (${[...values].join(", ")})`;
}

function parseRequirement(
  { key, operator, values = [] }: LabelSelectorRequirement,
  path: string,
  problems: FieldProblem[],
): LabelRequirement | undefined {
  const keyProblem = labelKeyProblem(key);
  if (keyProblem) problems.push({ path: `${path}.key`, message: keyProblem, kind: "invalid" });
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        problems.push({
          path: `${path}.values`,
          message: `must have a value for the operator ${operator}`,
          kind: "required",
        });
      }
      for (const [index, value] of values.entries()) {
        const message = labelValueProblem(value);
        if (message) problems.push({ path: joinPath(`${path}.values`, index), message, kind: "invalid" });
      }
      return { key, operator, values: new Set(values) };
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        problems.push({
          path: `${path}.values`,
          message: `must be empty for the operator ${operator}`,
          kind: "forbidden",
        });
      }
      return { key, operator, values: noValues };
    default:
      problems.push({
        path: `${path}.operator`,
        message: "must be In, NotIn, Exists or DoesNotExist",
        kind: "notSupported",
      });
      return undefined;
  }
}

/** Problems of one label, key and value. */
export function labelProblems(key: string, value: string, path: string): FieldProblem[] {
  return [labelKeyProblem(key), labelValueProblem(value)]
    .filter((message) => message !== undefined)
    .map((message) => ({ path, message, kind: "invalid" as const }));
}
