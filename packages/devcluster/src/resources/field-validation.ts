import type { Json } from "../json/json.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { badRequest } from "../errors/status-error.ts";

/** More findings than this tell nobody anything; kube-apiserver stops there as well. */
const reportLimit = 100;

/** The paths of the fields that a body names twice, by the parsed body: JSON values cannot say it themselves. */
const duplicates = new WeakMap<object, readonly string[]>();

/** Notes that the text of a body names fields twice; the last value of each is what the body holds. */
export function noteDuplicates(body: Json | undefined, paths: readonly string[]): void {
  if (typeof body === "object" && body !== null && paths.length > 0) duplicates.set(body, paths);
}

/** The paths of the fields that the text of a body names twice. */
export function duplicatesOf(body: Json | undefined): readonly string[] {
  return (typeof body === "object" && body !== null ? duplicates.get(body) : undefined) ?? [];
}

/**
 * What the author of a body is told about fields that are doubled or unknown: nothing under `Ignore`, warnings under `Warn`.
 * Throws 400 under `Strict`.
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
