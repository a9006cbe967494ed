import { entriesOf, field, isArray, isObject, type Json } from "../json.ts";
import { badRequest } from "../status.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { itemSchema, propertySchema, type Schema } from "./schema.ts";

/**
 * Throws 400, in the words of Go's decoder, for the first field of a built-in kind that has another type than its schema
 * says. Null stands for "not set" everywhere, and fields that the schema does not name are not looked at.
 */
export function checkTypes(definition: ResourceDefinition, object: Json): void {
  const mismatch = firstMismatch(object, definition.schema, "");
  if (mismatch === undefined) return;
  const { kind, version } = definition;
  throw badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal ${mismatch.given} into Go ` +
      `struct field ${kind}.${mismatch.path} of type ${mismatch.expected}`,
  );
}

interface Mismatch {
  readonly path: string;
  readonly given: string;
  readonly expected: string;
}

const goTypes: Readonly<Record<string, string>> = {
  string: "string",
  integer: "int64",
  boolean: "bool",
  object: "map[string]interface {}",
  array: "[]interface {}",
};

function firstMismatch(value: Json, schema: Schema | undefined, path: string): Mismatch | undefined {
  if (value === null || schema === undefined) return undefined;
  const given = typeNameOf(value);
  const type = field(schema, "type");
  if (field(schema, "x-kubernetes-int-or-string") === true) {
    const fits = given === "string" || given === "number";
    return fits ? undefined : { path, given, expected: "intstr.IntOrString" };
  }
  const isMap = isObject(field(schema, "additionalProperties"));
  const isRight =
    typeof type !== "string" || given === (type === "integer" ? "number" : type === "boolean" ? "bool" : type);
  if (!isRight) return { path, given, expected: isMap ? "map[string]string" : (goTypes[type] ?? type) };
  if (isArray(value)) {
    const items = itemSchema(schema);
    for (const item of value) {
      const found = firstMismatch(item, items, path);
      if (found !== undefined) return found;
    }
  } else if (isObject(value)) {
    for (const [key, child] of entriesOf(value)) {
      const found = firstMismatch(
        child,
        propertySchema(schema, key),
        isMap ? path : path === "" ? key : `${path}.${key}`,
      );
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function typeNameOf(value: Json): string {
  if (isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
