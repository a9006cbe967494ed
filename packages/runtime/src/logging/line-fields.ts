import { isRecord, logKeys } from "@millwright/base";

/** Written by the logger itself. */
const reserved: ReadonlySet<string> = new Set(["time", "level", "msg"]);

const isListed = (key: string): boolean => Object.hasOwn(logKeys, key) && !reserved.has(key);

/** The fields of a line, with those whose key is not listed in `logKeys` under `fields`: the keys of a line are always from the list. */
export function withListedKeys(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(fields);
  const others = entries.filter(([key]) => !isListed(key));
  if (others.length === 0) return { ...fields };
  const { fields: nested } = fields;
  const inner = isRecord(nested) ? nested : nested === undefined ? {} : { fields: nested };
  const listed = entries.filter(([key]) => isListed(key) && key !== "fields");
  return { ...Object.fromEntries(listed), fields: { ...inner, ...Object.fromEntries(others) } };
}

/** Plain fields without the stacks of errors in them, at any depth. */
export const withoutStacks = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (key === "stack" ? [] : [[key, strip(value)] as const])),
  );

const strip = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(strip) : isRecord(value) ? withoutStacks(value) : value;
