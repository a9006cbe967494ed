import { isPreparedObject, type PreparedObject } from "../objects/stored-object.ts";
import { type JsonObject, stringAt } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { internalError, invalid } from "../errors/status-error.ts";
import { reportFields } from "../resources/field-validation.ts";
import { metadataProblems } from "./metadata-rules.ts";
import type { WriteOptions } from "../request/write-options.ts";

/** An object that may be stored, and the warnings for its author. */
export interface Admitted {
  readonly object: PreparedObject;
  readonly warnings: readonly string[];
}

/**
 * Prunes, defaults and validates a decoded object; `live` is the object that it replaces. Throws 400 for unknown
 * fields under Strict, those that decoding found and those that pruning drops, and 422 for invalid ones.
 */
export function admit(
  definition: ResourceDefinition,
  candidate: JsonObject,
  live: JsonObject | undefined,
  options: WriteOptions,
  decoded: readonly string[],
  part: "all" | "status" = "all",
): Admitted {
  const { object, unknown } = definition.pipeline.prepare(candidate);
  const warnings = reportFields(definition, [...decoded, ...unknown.toSorted()], options.fieldValidation);
  const problems = [...metadataProblems(definition, object), ...definition.pipeline.validate(object, live, part)];
  if (problems.length > 0) throw invalid(definition, stringAt(object, "metadata", "name") ?? "", problems);
  if (!isPreparedObject(object)) throw internalError(`${definition.kind} lost its metadata on the way into the store`);
  return { object, warnings };
}

/** The object with the fields that the server adds, see `SchemaPipeline.complete`. */
export function completed(definition: ResourceDefinition, object: PreparedObject): PreparedObject {
  const result = definition.pipeline.complete?.(object) ?? object;
  if (!isPreparedObject(result)) throw internalError(`${definition.kind} lost its metadata on the way into the store`);
  return result;
}
