import { field, isObject, type JsonObject } from "../json.ts";
import type { ResourceDefinition } from "../kinds/resource-definition.ts";
import { objectMeta } from "../kinds/schema-notation.ts";

/** The schema of a kind as documents show it: with the fields that every object has, and their meaning. */
export function describedSchema(definition: ResourceDefinition): JsonObject {
  const { schema, kind } = definition;
  const properties = field(schema, "properties");
  const metadata = isObject(properties) && isObject(properties["metadata"]) ? properties["metadata"] : {};
  return {
    description: `A ${kind} object of the ${definition.group === "" ? "core" : definition.group} group.`,
    ...schema,
    type: "object",
    properties: {
      ...(isObject(properties) ? properties : {}),
      apiVersion: { type: "string", description: "The group and version that this object is written in." },
      kind: { type: "string", description: "The kind of this object, in camel case." },
      metadata: {
        ...objectMeta,
        ...metadata,
        properties: objectMeta["properties"],
        description: "Standard object metadata.",
      },
    },
  };
}
