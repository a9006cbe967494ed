import * as z from "zod";
import { isRecord } from "@millwright/base";

/** Where a schema has parts to fill in: below a field, and in the field itself when it may be absent. */
interface Part {
  readonly name: string;
  readonly fills: boolean;
  readonly below: readonly Part[];
}

const partsOfSchema = new WeakMap<z.ZodObject, readonly Part[]>();

/**
 * The value with an empty object for each absent part that the schema declares with `.prefault({})`. The same value when
 * nothing was absent.
 */
export function fillParts(schema: z.ZodObject, value: unknown): unknown {
  return fill(partsOf(schema), value);
}

function fill(parts: readonly Part[], value: unknown): unknown {
  if (!isRecord(value)) return value;
  let result = value;
  for (const { name, fills, below } of parts) {
    const before = Object.hasOwn(value, name) ? value[name] : undefined;
    const after = fill(below, before ?? (fills ? {} : undefined));
    if (after !== before) result = { ...result, [name]: after };
  }
  return result;
}

function partsOf(schema: z.ZodObject): readonly Part[] {
  const known = partsOfSchema.get(schema);
  if (known) return known;
  const parts: Part[] = [];
  for (const [name, field] of Object.entries(schema.shape)) {
    const fills = field instanceof z.ZodPrefault;
    const inner = field instanceof z.ZodPrefault || field instanceof z.ZodExactOptional ? field.unwrap() : field;
    if (!(inner instanceof z.ZodObject)) continue;
    const below = partsOf(inner);
    if (fills || below.length > 0) parts.push({ name, fills, below });
  }
  partsOfSchema.set(schema, parts);
  return parts;
}
