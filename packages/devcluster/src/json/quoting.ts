import { isArray, isObject, type Json } from "./json.ts";

/** A value as Kubernetes prints it in field errors: strings quoted, `null` for nothing, objects and arrays as JSON. */
export function quoted(value: Json | undefined): string {
  if (value === undefined || value === null) return "null";
  if (isObject(value) || isArray(value)) return JSON.stringify(value);
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** A value as text: strings as they are, everything else as JSON, nothing as the empty string. */
export function plainText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
