import type { NormalizedSchema } from "@smithy/core/schema";

/** Why a text is not a value of a simple type; undefined when it is. */
export function valueProblem(
  schema: NormalizedSchema,
  values: ReadonlySet<string> | undefined,
  text: string,
): string | undefined {
  const shown = (): string => JSON.stringify(text.slice(0, 80));
  if (schema.isBooleanSchema()) return /^(true|false)$/.test(text) ? undefined : `must be true or false, is ${shown()}`;
  if (schema.isNumericSchema()) {
    return /^-?\d+(\.\d+)?$/.test(text) ? undefined : `must be a number, is ${shown()}`;
  }
  if (schema.isTimestampSchema()) {
    return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? undefined : `must be a time, is ${shown()}`;
  }
  if (schema.isBlobSchema()) {
    return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? undefined : `must be base64, is ${shown()}`;
  }
  if (!schema.isStringSchema()) return "must not be a text";
  return values === undefined || values.has(text) ? undefined : `is not a value of its enum: ${shown()}`;
}
