import { entriesOf, field, isArray, isObject, type Json, type JsonObject } from "../json/json.ts";
import { itemSchema, listTypeOf, propertySchema, type Schema } from "../schema/schema.ts";
import { apiVersionOf, type ResourceDefinition } from "../resources/resource-definition.ts";
import { plainText } from "../json/quoting.ts";
import { StatusError } from "../errors/status-error.ts";
import { elementOf } from "./field-tree.ts";
import { shownElement } from "./conflicts.ts";

/**
 * Throws kube-apiserver's error for a configuration that does not fit the schema: unknown fields, values of another type,
 * duplicate list items. The code is 500, as there.
 */
export function checkTyped(definition: ResourceDefinition, body: JsonObject, namespace: string, name: string): void {
  const errors = errorsOf(body, definition.schema, "");
  if (errors.length === 0) return;
  const [only] = errors;
  const list = errors.length === 1 ? only : `errors:\n${errors.map((error) => `  ${error}`).join("\n")}`;
  const group = definition.group === "" ? "/" : "";
  const place = `${namespace}/${name}; ${group}${apiVersionOf(definition)}, Kind=${definition.kind}`;
  throw new StatusError(500, "", `failed to create typed patch object (${place}): ${list}`);
}

function errorsOf(value: Json, schema: Schema | undefined, path: string): readonly string[] {
  if (schema === undefined || value === null) return [];
  const type = field(schema, "type");
  if (type === "array") return isArray(value) ? itemErrors(value, schema, path) : [expected("list", value, path)];
  if (type === "object") return isObject(value) ? fieldErrors(value, schema, path) : [expected("map", value, path)];
  const isScalar = !isArray(value) && !isObject(value);
  if (type === "string" && typeof value !== "string") return [expected("string", value, path)];
  if (type === "boolean" && typeof value !== "boolean") return [expected("boolean", value, path)];
  if ((type === "integer" || type === "number") && typeof value !== "number") {
    return [expected("numeric (int or float)", value, path)];
  }
  return isScalar || field(schema, "x-kubernetes-int-or-string") !== true ? [] : [expected("untyped", value, path)];
}

function itemErrors(items: readonly Json[], schema: Schema, path: string): readonly string[] {
  const own = itemSchema(schema);
  if (listTypeOf(schema) === "atomic") {
    return items.flatMap((item, index) => errorsOf(item, own, `${path}[${index}]`));
  }
  const seen = new Set<string>();
  const doubled: string[] = [];
  const inside: string[] = [];
  for (const item of items) {
    const element = elementOf(item, schema);
    const shown = shownElement(element);
    if (seen.has(element)) doubled.push(`${path}: duplicate entries for key ${shown}`);
    seen.add(element);
    inside.push(...errorsOf(item, own, `${path}${shown}`));
  }
  return [...inside, ...doubled];
}

function fieldErrors(object: JsonObject, schema: Schema, path: string): readonly string[] {
  const properties = field(schema, "properties");
  const keepsUnknown =
    field(schema, "x-kubernetes-preserve-unknown-fields") === true ||
    field(schema, "x-kubernetes-embedded-resource") === true ||
    field(schema, "additionalProperties") === true ||
    (properties === undefined && field(schema, "additionalProperties") === undefined);
  return entriesOf(object).flatMap(([key, value]) => {
    const own = propertySchema(schema, key);
    if (own !== undefined) return errorsOf(value, own, `${path}.${key}`);
    return keepsUnknown ? [] : [`${path}.${key}: field not declared in schema`];
  });
}

function expected(type: string, value: Json, path: string): string {
  return `${path}: expected ${type}, got &{${plainText(value)}}`;
}
