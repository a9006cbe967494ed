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

/** The error of a value that is not supported. */
export function notSupported(field: string, value: string, known: readonly string[]): Cause {
  const list = known.map((name) => quoted(name)).join(", ");
  return {
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${quoted(value)}: supported values: ${list}`,
    field,
  };
}
