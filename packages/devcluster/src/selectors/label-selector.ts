import { plainText } from "../json/quoting.ts";
import { field, type JsonObject } from "../json/json.ts";
import { badRequest, type StatusError } from "../errors/status-error.ts";
import { labelValueErrors, qualifiedNameErrors } from "../objects/names.ts";

/** One requirement of a label selector. */
interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "absent" | "gt" | "lt";
  readonly values: readonly string[];
}

/** Whether the labels of an object match. */
export type LabelMatcher = (labels: JsonObject | undefined) => boolean;

/**
 * Parses a label selector in its text form (`a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`). Throws 400 when it is malformed.
 */
export function parseLabelSelector(text: string): LabelMatcher {
  if (text.trim() === "") return () => true;
  // Commas separate terms, but not in the parentheses of a set.
  const requirements = text.split(/,(?![^(]*\))/).map((term) => requirementOf(term.trim()));
  return (labels) => requirements.every((requirement) => satisfies(labels, requirement));
}

const termPattern =
  /^(?<not>!\s*)?(?<key>[^\s=!<>(),]+)(?:\s*(?<sign>==?|!=|[<>])\s*(?<value>[^\s=!<>(),]*)|\s+(?<set>in|notin)\s*\((?<values>[^()]*)\))?$/;
const operators: ReadonlyMap<string | undefined, Requirement["operator"]> = new Map([
  [undefined, "exists"],
  ["=", "in"],
  ["==", "in"],
  ["!=", "notin"],
  [">", "gt"],
  ["<", "lt"],
  ["in", "in"],
  ["notin", "notin"],
]);

function requirementOf(term: string): Requirement {
  const { not, key = "", sign, value = "", set, values } = termPattern.exec(term)?.groups ?? {};
  const operator = operators.get(sign ?? set);
  if (key === "" || operator === undefined || (not !== undefined && operator !== "exists")) {
    throw invalid(JSON.stringify(term));
  }
  const wrong = qualifiedNameErrors(key);
  if (wrong.length > 0) throw invalid(`<nil>: Invalid value: ${JSON.stringify(key)}: ${wrong.join("; ")}`);
  if (not !== undefined) return { key, operator: "absent", values: [] };
  return checked({ key, operator, values: values?.split(",").map((each) => each.trim()) ?? [value] });
}

const invalid = (what: string): StatusError => badRequest(`unable to parse requirement: ${what}`);

function checked(requirement: Requirement): Requirement {
  const { operator, values } = requirement;
  const isOrder = operator === "gt" || operator === "lt";
  const why = isOrder && !/^[-+]?\d+$/.test(values[0] ?? "") ? ["the value must be an integer"] : [];
  const wrong = [...why, ...values.flatMap(labelValueErrors)];
  if (wrong.length > 0) throw invalid(`${JSON.stringify(values)}: ${wrong.join("; ")}`);
  return requirement;
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
