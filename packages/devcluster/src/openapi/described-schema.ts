import {
  entriesOf,
  field,
  isObject,
  type Json,
  type JsonObject,
  objectAt,
  objectFrom,
  stringAt,
} from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { Schema } from "../schema/schema.ts";
import { structSchema } from "../schema/type-notation.ts";

/** The schema of a kind in a document, and the structs that it refers to by name. */
export interface DescribedSchema {
  readonly schema: JsonObject;
  /** By their names in `components.schemas`. */
  readonly parts: ReadonlyMap<string, JsonObject>;
}

/** The name of a struct of a built-in kind in `components.schemas`. */
function partName(struct: string): string {
  return `io.k8s.api.${struct.includes(".") ? struct : `v1.${struct}`}`;
}

/** Describes a kind, with the fields that every object has. */
export function describedSchema({ schema, kind, group }: ResourceDefinition): DescribedSchema {
  const parts = new Map<string, JsonObject>();
  const described = describe(schema, parts);
  return {
    schema: {
      description: `A ${kind} object of the ${group === "" ? "core" : group} group.`,
      ...described,
      type: "object",
      properties: {
        ...objectAt(described, "properties"),
        apiVersion: { type: "string", description: "The group and version that this object is written in." },
        kind: { type: "string", description: "The kind of this object, in camel case." },
        metadata: {
          ...describe(structSchema("ObjectMeta"), parts),
          description: "Standard object metadata.",
        },
      },
    },
    parts,
  };
}

/** A copy of a schema in which structs are references, since types may contain themselves. */
function describe(schema: Schema, parts: Map<string, JsonObject>): JsonObject {
  return objectFrom(
    entriesOf(schema).flatMap(([key, value]): [string, Json][] => {
      switch (key) {
        case "x-go-type":
        case "x-go-omitempty":
          return [];
        case "format":
          return [[key, value === "micro-time" ? "date-time" : value]];
        case "properties":
          return [[key, objectFrom(entriesOf(value).map(([name, child]) => [name, reference(child, parts)]))]];
        case "items":
        case "additionalProperties":
          return [[key, reference(value, parts)]];
        default:
          return [[key, value]];
      }
    }),
  );
}

function reference(value: Json, parts: Map<string, JsonObject>): Json {
  if (!isObject(value)) return value;
  const struct = stringAt(value, "x-go-type");
  if (struct === undefined) return describe(value, parts);
  const name = partName(struct);
  if (!parts.has(name)) {
    parts.set(name, {});
    parts.set(name, describe(structSchema(struct), parts));
  }
  const strategy = field(value, "x-kubernetes-patch-strategy");
  const link = { $ref: `#/components/schemas/${name}` };
  return strategy === undefined ? link : { allOf: [link], "x-kubernetes-patch-strategy": strategy };
}
