import type * as z from "zod";
import { isRecord } from "@millwright/base";
import { joinPath, type FieldProblem } from "./field-problem.ts";

/** Words for the types of zod, as a person who writes YAML knows them. */
const words: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a text",
};

/** The problems of a value that zod found, with paths and in the words of this API. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], value: unknown): FieldProblem[] {
  return issues.map((issue) => {
    const path = issue.path.reduce<string>(joinPath, "");
    const found = valueAt(value, issue.path);
    if (found === undefined && issue.code === "invalid_type") {
      return { path, message: `is required: ${expectationOf(issue)}`, kind: "required" };
    }
    return { path, message: `must be ${expectationOf(issue)}, is ${kindOfValue(found)}`, kind: "invalid" };
  });
}

function expectationOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return words[issue.expected] ?? issue.expected;
  if (issue.code === "invalid_union") return "a whole number or a text";
  if (issue.code === "too_big") return `at most ${issue.maximum}`;
  if (issue.code === "too_small") return `at least ${issue.minimum}`;
  return issue.message;
}

/** What was found, without quoting a text of unknown length. */
function kindOfValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value.length <= 40 ? JSON.stringify(value) : "a longer text";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return words[typeof value] ?? typeof value;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (Array.isArray(at) && typeof key === "number") at = at[key];
    else if (isRecord(at) && typeof key === "string" && Object.hasOwn(at, key)) at = at[key];
    else return undefined;
  }
  return at;
}
