import * as z from "zod";

/** Keyword of our own in a JSON Schema: keys of the object are read in any case. */
export const anyCaseKeyword = "x-millwright-keys-in-any-case";

/**
 * An object as Go's JSON decoder reads it, for specs that MCM's drivers read before: keys in any case (of several that mean one field the last one counts), null is
 * absent, unknown keys are ignored, which `unknownKeysOf` finds. Everything else is zod's `z.object`.
 *
 * @example
 * const schema = goObject({ machineType: z.string(), spotPrice: z.string().optional() });
 * schema.parse({ MachineType: "m5.large", spotPrice: null, later: true }); // { machineType: "m5.large" }
 */
export function goObject<Shape extends z.ZodRawShape>(shape: Shape): z.ZodPreprocess<z.ZodObject<Shape>> {
  const fields = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return z.preprocess((value) => withFieldNames(value, fields), z.object(shape).meta({ [anyCaseKeyword]: true }));
}

function withFieldNames(value: unknown, fields: ReadonlyMap<string, string>): unknown {
  // The schema rejects everything but objects.
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const named: [string, unknown][] = [];
  for (const [key, field] of Object.entries(value)) {
    const name = fields.get(key.toLowerCase());
    if (name !== undefined && field !== null) named.push([name, field]);
  }
  return Object.fromEntries(named);
}
