import { dropUnknown } from "../schema/prune.ts";
import { field, isObject, type JsonObject } from "../json/json.ts";
import { badRequest } from "../errors/status-error.ts";
import { typeError } from "../schema/check-types.ts";
import { goShape } from "./go-shape.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { structSchema } from "../schema/type-notation.ts";

/** A decoded object and the paths of its unknown fields. */
export interface Decoded {
  readonly object: JsonObject;
  readonly unknown: readonly string[];
}

/**
 * Decodes an object like Go's decoder: drops unknown fields of built-in kinds and of all metadata, and rejects values of a wrong
 * type with 400. The fields of custom resources are left to their schema.
 */
export function decodeObject(definition: ResourceDefinition, object: JsonObject): Decoded {
  const error = decodeErrorOf(definition, object);
  if (error !== undefined) {
    const { kind, version } = definition;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error}`);
  }
  if (definition.origin === "built-in") {
    const { object: known, unknown } = dropUnknown(object, definition.schema);
    return { object: goShape(definition, known), unknown };
  }
  const metadata = field(object, "metadata");
  if (!isObject(metadata)) return { object, unknown: [] };
  const { object: known, unknown } = dropUnknown({ metadata }, metadataSchema());
  return known["metadata"] === metadata ? { object, unknown } : { object: { ...object, ...known }, unknown };
}

function metadataSchema(): JsonObject {
  return { type: "object", properties: { metadata: structSchema("ObjectMeta") } };
}

function decodeErrorOf(definition: ResourceDefinition, object: JsonObject): string | undefined {
  const { kind, schema, origin } = definition;
  if (origin === "built-in") return typeError(object, schema, kind);
  const metadata = field(object, "metadata") ?? null;
  // The metadata of custom resources is decoded separately, so its paths have no prefix.
  if (metadata === null || isObject(metadata)) return typeError(metadata, structSchema("ObjectMeta"), "ObjectMeta");
  return typeError({ metadata }, metadataSchema(), kind);
}
