import { plainText } from "../quoting.ts";
import { field, type JsonObject } from "../json.ts";
import { badRequest } from "../status.ts";

/** One requirement of a label selector. */
interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "absent" | "gt" | "lt";
  readonly values: readonly string[];
}

/** Tells whether an object's labels are selected. */
export type LabelMatcher = (labels: JsonObject | undefined) => boolean;

const requirementPatterns: readonly (readonly [RegExp, (match: RegExpExecArray) => Requirement])[] = [
  [
    /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/,
    ([, key = "", operator, values = ""]) => ({
      key,
      operator: operator === "in" ? "in" : "notin",
      values: values.split(",").map((value) => value.trim()),
    }),
  ],
  [
    /^([^\s=!<>]+)\s*(?:==|=)\s*([^\s=!<>]*)$/,
    ([, key = "", value = ""]) => ({ key, operator: "in", values: [value] }),
  ],
  [/^([^\s=!<>]+)\s*!=\s*([^\s=!<>]*)$/, ([, key = "", value = ""]) => ({ key, operator: "notin", values: [value] })],
  [/^([^\s=!<>]+)\s*>\s*(-?\d+)$/, ([, key = "", value = ""]) => ({ key, operator: "gt", values: [value] })],
  [/^([^\s=!<>]+)\s*<\s*(-?\d+)$/, ([, key = "", value = ""]) => ({ key, operator: "lt", values: [value] })],
  [/^!\s*([^\s=!<>]+)$/, ([, key = ""]) => ({ key, operator: "absent", values: [] })],
  [/^([^\s=!<>(),]+)$/, ([, key = ""]) => ({ key, operator: "exists", values: [] })],
];

/** Reads a label selector in its text form (`a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`). Throws 400 when it is malformed. */
export function parseLabelSelector(text: string): LabelMatcher {
  if (text.trim() === "") return () => true;
  const requirements = splitOutsideParentheses(text).map((part) => parseRequirement(part.trim(), text));
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

function parseRequirement(part: string, whole: string): Requirement {
  for (const [pattern, build] of requirementPatterns) {
    const match = pattern.exec(part);
    if (match !== null) return build(match);
  }
  throw badRequest(`unable to parse requirement: "${part}" in the label selector "${whole}"`);
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

function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if (character === "," && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
