import * as z from "zod";

/**
 * A schema as a CustomResourceDefinition takes it: Kubernetes' "structural" subset of JSON schema, version 3.0 of OpenAPI.
 * Source: kubernetes.io, "Extend the Kubernetes API with CustomResourceDefinitions", section "Specifying a structural schema".
 */
export interface StructuralSchema {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly items?: StructuralSchema;
  readonly additionalProperties?: StructuralSchema;
  readonly anyOf?: readonly StructuralSchema[];
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** A rule in the Common Expression Language. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
}

/**
 * Key of `.meta()` for an object whose fields the CustomResourceDefinition does not spell out although the TypeScript type
 * does: metadata of objects and templates.
 */
export const opaqueInCrd = "x-millwright-opaque";

/** Keys that go into the result as they are, in this order. All others (`minimum`, `default`, `$schema` …) stay behind. */
const copied = [
  "description",
  "type",
  "format",
  "pattern",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-list-type",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
] as const;

/**
 * The structural schema of a kind, from its zod schema. As permissive as MCM's: types and required fields, no ranges, no
 * defaults, no closed sets, so that every object that MCM stored stays writable. Stricter rules are in `validate*`.
 * `metadata` is an object to which the API server itself holds the schema.
 */
export function structuralSchemaOf(kind: z.ZodObject): StructuralSchema {
  const json = z.toJSONSchema(kind, { io: "input", reused: "inline", unrepresentable: "any" });
  const schema = convert(json);
  const required = schema.required?.filter((field) => field !== "metadata" && field !== "spec") ?? [];
  const { required: _, ...rest } = schema;
  return {
    ...rest,
    properties: { ...rest.properties, metadata: { type: "object" } },
    ...(required.length > 0 && { required }),
  };
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

function convert(json: JsonSchema): StructuralSchema {
  const result: Record<string, unknown> = {};
  for (const key of copied) if (json[key] !== undefined) result[key] = json[key];
  if (json["x-kubernetes-int-or-string"] === true) {
    delete result["type"];
    result["anyOf"] = [{ type: "integer" }, { type: "string" }];
    return result;
  }
  if (json[opaqueInCrd] === true || (json["x-kubernetes-preserve-unknown-fields"] === true && !json.properties))
    return result;
  if (json.properties) {
    const fields = Object.entries(json.properties).filter((entry): entry is [string, JsonSchema] => isSchema(entry[1]));
    result["properties"] = Object.fromEntries(fields.toSorted(byName).map(([name, field]) => [name, convert(field)]));
    if (json.required && json.required.length > 0) result["required"] = json.required.toSorted();
  } else if (isSchema(json.additionalProperties)) {
    result["additionalProperties"] = convert(json.additionalProperties);
  }
  if (isSchema(json.items)) result["items"] = convert(json.items);
  return result;
}

/** Whether a subschema is one, and not `true`, `false` or a list. */
function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
