import { field, isArray, isObject, type Json, stringAt } from "../json/json.ts";
import { goTimeError } from "./go-time.ts";
import { itemSchema, propertySchema, type Schema } from "./schema.ts";

/**
 * Go's decoding error for the first field whose type does not fit its schema; undefined when all fit. Null means "not set"
 * everywhere, and fields that the schema lacks are ignored. `struct` is the Go type that the value is decoded into.
 */
export function typeError(value: Json, schema: Schema | undefined, struct: string, path = ""): string | undefined {
  if (value === null || schema === undefined) return undefined;
  if (!fits(value, schema)) {
    return (
      `json: cannot unmarshal ${givenType(value, schema)} into Go struct field ${struct}.${path} of type ` +
      goTypeOf(schema)
    );
  }
  if (typeof value === "string") {
    const format = stringAt(schema, "format");
    return format === "date-time" || format === "micro-time" ? goTimeError(value, format) : undefined;
  }
  if (isArray(value)) {
    const items = itemSchema(schema);
    for (const item of value) {
      const error = typeError(item, items, struct, path);
      if (error !== undefined) return error;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const isMap = isObject(field(schema, "additionalProperties"));
  const own = stringAt(schema, "x-go-type");
  const inner = own === undefined ? struct : own.slice(own.lastIndexOf(".") + 1);
  for (const key of Object.keys(value)) {
    const error = typeError(
      value[key] ?? null,
      propertySchema(schema, key),
      inner,
      isMap ? path : path === "" ? key : `${path}.${key}`,
    );
    if (error !== undefined) return error;
  }
  return undefined;
}

const jsonTypes: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "bool",
  object: "object",
  array: "array",
};

const int32Limit = 2 ** 31;

function fits(value: Json, schema: Schema): boolean {
  const given = typeNameOf(value);
  const type = stringAt(schema, "type");
  if (field(schema, "x-kubernetes-int-or-string") === true) return given === "string" || given === "number";
  if (type === undefined) return true;
  if (given !== jsonTypes[type]) return false;
  if (type !== "integer" || typeof value !== "number") return true;
  return Number.isInteger(value) && (field(schema, "format") === "int64" || Math.abs(value) < int32Limit);
}

/** The error contains a number that is of the right kind but does not fit. */
function givenType(value: Json, schema: Schema): string {
  const given = typeNameOf(value);
  return given === "number" && stringAt(schema, "type") === "integer" ? `number ${JSON.stringify(value)}` : given;
}

function goTypeOf(schema: Schema): string {
  if (field(schema, "x-kubernetes-int-or-string") === true) {
    return stringAt(schema, "format") === "quantity" ? "resource.Quantity" : "intstr.IntOrString";
  }
  const struct = stringAt(schema, "x-go-type");
  if (struct !== undefined) return `v1.${struct.slice(struct.lastIndexOf(".") + 1)}`;
  switch (stringAt(schema, "type")) {
    case "integer":
      return stringAt(schema, "format") ?? "int64";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    case "array":
      return `[]${goTypeOf(itemSchema(schema) ?? {})}`;
    case "object": {
      const values = field(schema, "additionalProperties");
      return isObject(values) ? `map[string]${goTypeOf(values)}` : "map[string]interface {}";
    }
    case "string":
      return stringAt(schema, "format") === "byte" ? "[]uint8" : "string";
    case undefined:
    default:
      return "interface {}";
  }
}

function typeNameOf(value: Json): string {
  if (isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
