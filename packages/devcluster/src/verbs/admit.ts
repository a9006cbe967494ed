import { isPreparedObject, type PreparedObject } from "../api-object.ts";
import { type JsonObject, stringAt } from "../json.ts";
import { checkTypes } from "../kinds/check-types.ts";
import { goShape } from "../kinds/go-shape.ts";
import type { ResourceDefinition } from "../kinds/resource-definition.ts";
import { badRequest, internalError, invalid } from "../status.ts";
import { metadataProblems } from "./metadata-rules.ts";
import type { WriteOptions } from "./write-options.ts";

/** An object that may be stored, and what its author should be told. */
export interface Admitted {
  readonly object: PreparedObject;
  readonly warnings: readonly string[];
}

/** Prunes, defaults and validates an object; `live` is what it is to replace. Throws 400 for unknown fields under Strict, 422 for invalid ones. */
export function admit(
  definition: ResourceDefinition,
  candidate: JsonObject,
  live: JsonObject | undefined,
  options: WriteOptions,
): Admitted {
  if (definition.origin === "built-in") checkTypes(definition, candidate);
  options.confirm?.(candidate, live);
  const shaped = definition.origin === "built-in" ? goShape(definition, candidate) : candidate;
  const { object, unknown: found } = definition.pipeline.prepare(shaped);
  const unknown = found.toSorted();
  if (unknown.length > 0 && options.fieldValidation === "Strict") {
    const list = unknown.map((path) => `unknown field "${path}"`).join(", ");
    const { kind, version } = definition;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${list}`);
  }
  const problems = [...metadataProblems(definition, object), ...definition.pipeline.validate(object, live)];
  if (problems.length > 0) throw invalid(definition, stringAt(object, "metadata", "name") ?? "", problems);
  if (!isPreparedObject(object)) throw internalError(`${definition.kind} lost its metadata on the way into the store`);
  const warnings = options.fieldValidation === "Warn" ? unknown.map((path) => `unknown field "${path}"`) : [];
  return { object, warnings };
}

/** The object with what the server adds on its own account, see `SchemaPipeline.complete`. */
export function completed(definition: ResourceDefinition, object: PreparedObject): PreparedObject {
  const result = definition.pipeline.complete?.(object) ?? object;
  if (!isPreparedObject(result)) throw internalError(`${definition.kind} lost its metadata on the way into the store`);
  return result;
}
