import type { Json } from "../json/json.ts";
import { quoted } from "../json/quoting.ts";
import type { Cause } from "./status-error.ts";

/** The error of a missing field. */
export function required(field: string, why = ""): Cause {
  return { reason: "FieldValueRequired", message: why === "" ? "Required value" : `Required value: ${why}`, field };
}

/** The error of an invalid value, with the value. */
export function invalidValue(field: string, value: Json | undefined, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${quoted(value)}: ${why}`, field };
}

/** The error of a value that must not be there, or must not change. */
export function forbiddenValue(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field };
}

/** The error of a second item with the same value. */
export function duplicateValue(field: string, value: Json | undefined): Cause {
  return { reason: "FieldValueDuplicate", message: `Duplicate value: ${quoted(value)}`, field };
}

/** The error of values that are too large together. */
export function tooLong(field: string, limitBytes: number | string): Cause {
  return { reason: "FieldValueTooLong", message: `Too long: may not be more than ${limitBytes} bytes`, field };
}

/** The error of a value that is not supported. */
export function notSupported(field: string, value: Json, known: readonly Json[]): Cause {
  const list = known.map((name) => quoted(name)).join(", ");
  return {
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${quoted(value)}: supported values: ${list}`,
    field,
  };
}
