import { plainText } from "../json/quoting.ts";
import { field, type JsonObject } from "../json/json.ts";
import { badRequest } from "../errors/status-error.ts";
import { type Requirement, requirementsOf } from "./label-selector-parser.ts";

/** Whether the labels of an object match. */
export type LabelMatcher = (labels: JsonObject | undefined) => boolean;

/**
 * Parses a label selector in its text form (`a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`). Throws 400 when it is malformed.
 */
export function parseLabelSelector(text: string): LabelMatcher {
  let requirements: readonly Requirement[];
  try {
    requirements = requirementsOf(text);
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
  return (labels) => requirements.every((requirement) => satisfies(labels, requirement));
}

/** Reads a `metav1.LabelSelector` object. A missing one selects nothing, an empty one everything. */
export function matcherOfSelectorObject(selector: JsonObject | undefined): LabelMatcher {
  if (selector === undefined) return () => false;
  const requirements: Requirement[] = [];
  const matchLabels = field(selector, "matchLabels");
  for (const [key, value] of Object.entries(matchLabels ?? {})) {
    requirements.push({ key, operator: "in", values: [String(value)] });
  }
  const expressions = field(selector, "matchExpressions");
  for (const expression of Array.isArray(expressions) ? expressions : []) {
    const values = field(expression, "values");
    requirements.push({
      key: plainText(field(expression, "key")),
      operator: operatorOfExpression(plainText(field(expression, "operator"))),
      values: Array.isArray(values) ? values.map(String) : [],
    });
  }
  return (labels) => requirements.every((requirement) => satisfies(labels, requirement));
}

function operatorOfExpression(name: string): Requirement["operator"] {
  switch (name) {
    case "In":
      return "in";
    case "NotIn":
      return "notin";
    case "DoesNotExist":
      return "absent";
    default:
      return "exists";
  }
}

function satisfies(labels: JsonObject | undefined, { key, operator, values }: Requirement): boolean {
  const value = field(labels, key);
  switch (operator) {
    case "in":
      return typeof value === "string" && values.includes(value);
    case "notin":
      return typeof value !== "string" || !values.includes(value);
    case "exists":
      return typeof value === "string";
    case "absent":
      return typeof value !== "string";
    case "gt":
      return typeof value === "string" && /^-?\d+$/.test(value) && Number(value) > Number(values[0]);
    case "lt":
      return typeof value === "string" && /^-?\d+$/.test(value) && Number(value) < Number(values[0]);
  }
}
