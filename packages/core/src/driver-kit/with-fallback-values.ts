import * as z from "zod";

const orElse = z.catch;

/**
 * The fields of a spec for a schema `vmSpec` (`Driver.vmSpec`): a field that is not needed to find a VM, and is missing or invalid, gets its fallback value, or the value that it has when it is absent.
 *
 * @param needed the fields that are read as strictly as ever
 * @param fallbackValues for the fields that must not be absent
 * @example
 * goObject(withFallbackValues({ region: z.string(), ami: z.string() }, ["region"], { ami: "" })).parse({ region: "a", ami: 7 }); // { region: "a", ami: "" }
 */
export function withFallbackValues<Shape extends z.ZodRawShape>(
  shape: Shape,
  needed: readonly (keyof Shape)[],
  fallbackValues: { readonly [Name in keyof Shape]?: z.output<Shape[Name]> },
): Shape {
  const lenient = Object.entries(shape).map(([name, field]) => {
    if (needed.includes(name)) return [name, field];
    const absent = z.safeParse(field, undefined);
    return [name, orElse(field, fallbackValues[name] ?? (absent.success ? absent.data : undefined))];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field keeps its type
  return Object.fromEntries(lenient) as Shape;
}
