import { isSecret, redacted } from "@millwright/base";
import { isSensitiveField } from "../recording/sensitive-fields.ts";

/** Deeper values are left out. */
const maxDepth = 6;
const unprintable = "(cannot be printed)";
/** More entries of an object or a list are left out. */
const maxEntries = 50;

/**
 * A value of a log line as plain JSON, whatever it is: errors with message, stack and causes, secrets redacted, and bounded. Never throws.
 *
 * @param clean is called with every text in it, names of fields included
 */
export function toLogValue(value: unknown, clean: (text: string) => string, depth = maxDepth): unknown {
  try {
    return convert(value, clean, depth);
  } catch {
    return unprintable;
  }
}

/** The fields of a log line, by {@link toLogValue}. A field with the name of something confidential is redacted, whatever it holds. */
export const toLogFields = (
  fields: object,
  clean: (text: string) => string,
  depth = maxDepth,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(fields)
      .slice(0, maxEntries)
      .map((name) => [
        clean(name),
        isSensitiveField(name) ? redacted : toLogValue(fieldOf(fields, name), clean, depth),
      ]),
  );

/** The value of a field, whose getter may throw. */
function fieldOf(fields: object, name: string): unknown {
  try {
    return Reflect.get(fields, name);
  } catch {
    return unprintable;
  }
}

function convert(value: unknown, clean: (text: string) => string, depth: number): unknown {
  if (typeof value !== "object" || value === null) return convertPlain(value, clean);
  if (isSecret(value)) return redacted;
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (value instanceof URL || value instanceof Date) return clean(String(value));
  if (depth === 0) return "(left out)";
  if (value instanceof Error) return errorValue(value, clean, depth);
  const deeper = (item: unknown): unknown => toLogValue(item, clean, depth - 1);
  if (value instanceof Map || value instanceof Set || Array.isArray(value))
    return [...value.values()].slice(0, maxEntries).map(deeper);
  return toLogFields(value, clean, depth - 1);
}

function convertPlain(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (typeof value === "bigint" || typeof value === "symbol") return clean(value.toString());
  return typeof value === "function" ? "(function)" : value;
}

/** The parts of an error that help, in this order; other fields may be whole requests. */
function errorValue(error: Error, clean: (text: string) => string, depth: number): unknown {
  const code: unknown = Reflect.get(error, "code");
  const errors: unknown = Reflect.get(error, "errors");
  const parts = {
    name: error.name,
    message: error.message,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(typeof error.stack === "string" ? { stack: error.stack } : {}),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
    ...(Array.isArray(errors) ? { errors } : {}),
  };
  return toLogFields(parts, clean, depth - 1);
}
