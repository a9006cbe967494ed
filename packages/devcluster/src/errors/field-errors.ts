import type { Json } from "../json/json.ts";
import { quoted } from "../json/quoting.ts";
import type { Cause } from "./status-error.ts";

/** A field that has to be there. */
export function required(field: string, why = ""): Cause {
  return { reason: "FieldValueRequired", message: why === "" ? "Required value" : `Required value: ${why}`, field };
}

/** A field whose value is wrong; `value` is shown. */
export function invalidValue(field: string, value: Json | undefined, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${quoted(value)}: ${why}`, field };
}

/** A field that may not be there. */
export function forbiddenField(field: string, why: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field };
}

/** A field whose value is none of those that are known. */
export function notSupported(field: string, value: string, known: readonly string[]): Cause {
  const list = known.map((name) => quoted(name)).join(", ");
  return {
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${quoted(value)}: supported values: ${list}`,
    field,
  };
}
