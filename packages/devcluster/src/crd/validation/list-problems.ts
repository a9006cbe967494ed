import { arrayAt, at, field, isObject, type Json, stringAt } from "../../json/json.ts";
import type { Schema } from "../../schema/schema.ts";
import type { Cause } from "../../errors/status-error.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/field-errors.ts";

const listType = "x-kubernetes-list-type";
const mapKeys = "x-kubernetes-list-map-keys";
const mapType = "x-kubernetes-map-type";

/** Validates the list types and map types of a schema. */
export function listProblems(schema: Schema, path: string): readonly Cause[] {
  const type = stringAt(schema, "type") ?? "";
  const list = stringAt(schema, listType);
  const map = stringAt(schema, mapType);
  const keys = arrayAt(schema, mapKeys);
  const causes: Cause[] = [];
  const wantType = (wanted: string, extension: string): void => {
    const why = `must be ${wanted} if ${extension} is specified`;
    if (type === "") causes.push(required(`${path}.type`, why));
    else if (type !== wanted) causes.push(invalidValue(`${path}.type`, type, why));
  };
  if (list !== undefined) wantType("array", listType);
  if (list !== undefined && !["atomic", "set", "map"].includes(list)) {
    causes.push(notSupported(`${path}.${listType}`, list, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && list !== "map") {
    const why = `must be map if ${mapKeys} is non-empty`;
    causes.push(
      list === undefined ? required(`${path}.${listType}`, why) : invalidValue(`${path}.${listType}`, list, why),
    );
  }
  if (list === "map") causes.push(...mapListProblems(schema, keys, path));
  if (list === "set") causes.push(...setProblems(field(schema, "items"), `${path}.items`));
  if (map !== undefined) wantType("object", mapType);
  if (map !== undefined && map !== "atomic" && map !== "granular") {
    causes.push(notSupported(`${path}.${mapType}`, map, ["atomic", "granular"]));
  }
  return causes;
}

function mapListProblems(schema: Schema, keys: readonly Json[], path: string): readonly Cause[] {
  if (keys.length === 0) return [required(`${path}.${mapKeys}`, `must not be empty if ${listType} is map`)];
  const items = field(schema, "items");
  if (!isObject(items)) return [required(`${path}.items`, `must have a schema if ${listType} is map`)];
  const itemType = stringAt(items, "type") ?? "";
  if (itemType !== "object") {
    return [invalidValue(`${path}.items.type`, itemType, `must be object if parent array's ${listType} is map`)];
  }
  const causes: Cause[] = [];
  if (field(items, "nullable") === true) {
    causes.push(forbiddenField(`${path}.items.nullable`, `cannot be nullable when ${listType} is map`));
  }
  const seen = new Set<Json>();
  for (const key of keys) {
    const name = typeof key === "string" ? key : "";
    const own = at(items, "properties", name);
    const place = `${path}.items.properties[${name}]`;
    if (seen.has(key)) {
      causes.push(invalidValue(`${path}.${mapKeys}`, [...keys], "must not contain duplicate entries"));
    } else if (!isObject(own)) {
      causes.push(invalidValue(`${path}.${mapKeys}`, [...keys], "entries must all be names of item properties"));
    } else {
      const type = stringAt(own, "type") ?? "";
      if (type === "object" || type === "array") {
        const why = `must be a scalar type if parent array's ${listType} is map`;
        causes.push(invalidValue(`${place}.type`, type, why));
      } else if (field(own, "nullable") === true) {
        causes.push(forbiddenField(`${place}.nullable`, `cannot be nullable when ${listType} is map`));
      }
      if (field(own, "default") === undefined && !arrayAt(items, "required").includes(key)) {
        const why = `this property is in ${mapKeys}, so it must have a default or be a required property`;
        causes.push(required(`${place}.default`, why));
      }
    }
    seen.add(key);
  }
  return causes;
}

function setProblems(items: Json | undefined, path: string): readonly Cause[] {
  if (!isObject(items)) return [];
  const because = `as item of a list with ${listType}=set`;
  if (field(items, "nullable") === true) {
    return [forbiddenField(`${path}.nullable`, `cannot be nullable when ${listType} is set`)];
  }
  switch (stringAt(items, "type")) {
    case "object": {
      const type = stringAt(items, mapType);
      return type === "atomic" ? [] : [invalidValue(`${path}.${mapType}`, type, `must be atomic ${because}`)];
    }
    case "array": {
      const type = stringAt(items, listType);
      return type === undefined || type === "atomic"
        ? []
        : [invalidValue(`${path}.${listType}`, type, `must be atomic ${because}`)];
    }
    case undefined:
    default:
      return [];
  }
}
