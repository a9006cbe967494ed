import { isDeepStrictEqual } from "node:util";
import { isRecord } from "@millwright/base";

/** Paths below `path` at which two JSON values differ, as deep as both have the same shape. A list whose length differs is one difference. */
export function differingPaths(before: unknown, after: unknown, path: string): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => differingPaths(before[key], after[key], `${path}.${key}`));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((one, index) => differingPaths(one, after[index], `${path}[${index}]`));
  return [path];
}
