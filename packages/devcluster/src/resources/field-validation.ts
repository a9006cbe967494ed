import type { ResourceDefinition } from "./resource-definition.ts";
import { badRequest } from "../errors/status-error.ts";

/** kube-apiserver reports at most this many fields. */
const reportLimit = 100;

/**
 * The warnings about unknown fields: none under `Ignore`, all under `Warn`. Throws 400 under `Strict`.
 */
export function reportFields(
  { kind, version }: ResourceDefinition,
  unknown: readonly string[],
  fieldValidation: "Ignore" | "Warn" | "Strict",
): readonly string[] {
  const texts = unknown.slice(0, reportLimit).map((path) => `unknown field "${path}"`);
  if (texts.length === 0 || fieldValidation === "Ignore") return [];
  if (fieldValidation === "Warn") return texts;
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${texts.join(", ")}`,
  );
}
