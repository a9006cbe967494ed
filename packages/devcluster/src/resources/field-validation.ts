import type { Json } from "../json/json.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { badRequest } from "../errors/status-error.ts";

/** kube-apiserver reports at most this many fields. */
const reportLimit = 100;

/** The paths of a body's duplicate fields, by the parsed body, which does not show them. */
const duplicates = new WeakMap<object, readonly string[]>();

/** Records the duplicate fields of a body's text. The parsed body has the last value of each. */
export function recordDuplicates(body: Json | undefined, paths: readonly string[]): void {
  if (typeof body === "object" && body !== null && paths.length > 0) duplicates.set(body, paths);
}

/** The paths of the duplicate fields in a body's text. */
export function duplicatesOf(body: Json | undefined): readonly string[] {
  return (typeof body === "object" && body !== null ? duplicates.get(body) : undefined) ?? [];
}

/**
 * The warnings about duplicate and unknown fields: none under `Ignore`, all under `Warn`. Throws 400 under `Strict`.
 */
export function reportFields(
  { kind, version }: ResourceDefinition,
  body: { readonly doubled: readonly string[]; readonly unknown: readonly string[] },
  fieldValidation: "Ignore" | "Warn" | "Strict",
): readonly string[] {
  const texts = [
    ...body.doubled.map((path) => `duplicate field "${path}"`),
    ...body.unknown.map((path) => `unknown field "${path}"`),
  ].slice(0, reportLimit);
  if (texts.length === 0 || fieldValidation === "Ignore") return [];
  if (fieldValidation === "Warn") return texts;
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${texts.join(", ")}`,
  );
}
