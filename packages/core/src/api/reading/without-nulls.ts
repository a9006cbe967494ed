import { isRecord } from "@millwright/base";
import { joinPath, type FieldProblem } from "../problems/field-problem.ts";

/** Deeper than any object of these kinds, and shallow enough for the stack. */
const maxDepth = 100;

/** What {@link withoutNulls} keeps as it is: subtrees in which null means something. */
export interface CleanOptions {
  /** Fields of the object whose nulls stay. */
  readonly keepNullsIn?: readonly string[];
}

/**
 * JSON from outside without the fields that are null: Go writes null for a zero time and reads null as absent. Parts that hold
 * none are the same objects as before, so that a cached object costs nothing. Collects problems for `__proto__` as a key,
 * which must not reach an assignment, and for nesting beyond 100 levels.
 */
export function withoutNulls(value: unknown, problems: FieldProblem[], options: CleanOptions = {}): unknown {
  if (!isRecord(value)) return value;
  const kept = options.keepNullsIn ?? [];
  return cleanRecord(value, "", 0, problems, (key) => kept.includes(key));
}

type KeepsNulls = (key: string) => boolean;

const dropsNulls: KeepsNulls = () => false;
const keepsNulls: KeepsNulls = () => true;

function clean(value: unknown, path: string, depth: number, problems: FieldProblem[], keeps: KeepsNulls): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) {
    problems.push({ path, message: `must not be nested deeper than ${maxDepth} levels`, kind: "forbidden" });
    return undefined;
  }
  if (!Array.isArray(value)) return isRecord(value) ? cleanRecord(value, path, depth, problems, keeps) : value;
  const items: readonly unknown[] = value;
  const cleaned = items.map((item, index) => clean(item, joinPath(path, index), depth + 1, problems, keeps));
  return cleaned.every((item, index) => item === items[index]) ? items : cleaned;
}

function cleanRecord(
  record: Readonly<Record<string, unknown>>,
  path: string,
  depth: number,
  problems: FieldProblem[],
  keeps: KeepsNulls,
): Readonly<Record<string, unknown>> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(record)) {
    const at = joinPath(path, key);
    if (key === "__proto__") {
      problems.push({ path: at, message: "must not be used as a key", kind: "forbidden" });
      continue;
    }
    const field = record[key];
    if (field === null) {
      if (keeps(key)) continue;
      copy ??= { ...record };
      delete copy[key];
      continue;
    }
    const below = depth === 0 && keeps(key) ? keepsNulls : depth === 0 ? dropsNulls : keeps;
    const cleaned = clean(field, at, depth + 1, problems, below);
    if (cleaned === field) continue;
    copy ??= { ...record };
    copy[key] = cleaned;
  }
  return copy ?? record;
}
