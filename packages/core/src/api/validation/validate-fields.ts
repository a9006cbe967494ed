import { parseGoDuration } from "@millwright/base";
import { joinPath, type FieldProblem, quoted } from "../problems/field-problem.ts";
import { greatestInt32 } from "../values/fenceposts.ts";
import { labelProblems } from "../values/label-selector.ts";
import { labelKeyProblem } from "../values/label-syntax.ts";

/** Fields of an object that hold numbers or texts, as far as they are set. */
type Fields<Name extends string, Value> = { readonly [Key in Name]?: Value };

/** The highest `spec.replicas`. No cluster has that many Nodes: a higher number is a mistake, which would cost a VM every moment until someone sees it. */
export const mostReplicas = 100_000;

/** Problems of fields that must be whole numbers from 0 to 2^31 - 1 when they are set, and `replicas` to {@link mostReplicas}. */
export function countProblems<Name extends string>(
  object: Fields<Name, number>,
  names: readonly Name[],
  path: string,
): FieldProblem[] {
  return names.flatMap((name) => {
    const value = object[name];
    const greatest = name === "replicas" ? mostReplicas : greatestInt32;
    if (value === undefined || (Number.isInteger(value) && value >= 0 && value <= greatest)) return [];
    const message = `must be a whole number from 0 to ${greatest}, is ${value}`;
    return [{ path: joinPath(path, name), message, kind: "invalid" as const }];
  });
}

/** Problems of fields that must be Go durations of zero or more when they are set. */
export function durationProblems<Name extends string>(
  object: Fields<Name, string>,
  names: readonly Name[],
  path: string,
): FieldProblem[] {
  return names.flatMap((name) => {
    const value = object[name];
    if (value === undefined) return [];
    const ms = parseGoDuration(value);
    if (ms !== undefined && ms >= 0) return [];
    const message = `must be a duration of zero or more such as 90s, 20m or 1h30m, is ${quoted(value)}`;
    return [{ path: joinPath(path, name), message, kind: "invalid" as const }];
  });
}

/** A problem when a text is missing or empty. */
export function requiredText(value: string | undefined, path: string, meaning: string): FieldProblem[] {
  return value ? [] : [{ path, message: `is required: ${meaning}`, kind: "required" }];
}

/** Problems of the labels, annotations and finalizers that objects will carry; the API server would reject those objects. */
export function metadataProblems(
  metadata:
    | {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
        readonly finalizers?: readonly string[];
      }
    | undefined,
  path: string,
): FieldProblem[] {
  const labels = Object.entries(metadata?.labels ?? {}).flatMap(([key, value]) =>
    labelProblems(key, value, joinPath(`${path}.labels`, key)),
  );
  const keys = [
    ...Object.keys(metadata?.annotations ?? {}).map((key) => [key.toLowerCase(), joinPath(`${path}.annotations`, key)]),
    ...(metadata?.finalizers ?? []).map((key, index) => [key, joinPath(`${path}.finalizers`, index)]),
  ].flatMap(([key = "", at = path]) => {
    const message = labelKeyProblem(key);
    return message ? [{ path: at, message, kind: "invalid" as const }] : [];
  });
  return [...labels, ...keys];
}
