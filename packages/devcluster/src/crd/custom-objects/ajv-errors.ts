import type { ErrorObject } from "ajv";
import { isArray, isObject, type Json, jsonTypeOf } from "../../json/json.ts";
import { quoted, plainText } from "../../json/quoting.ts";
import { notSupported, required, tooLong } from "../../errors/field-errors.ts";
import type { Cause } from "../../errors/status-error.ts";

/**
 * Translates ajv's errors to those of kube-apiserver. For a union it reports the union itself and the errors of its first
 * schema.
 */
export function causesOf(errors: readonly ErrorObject[]): readonly Cause[] {
  return errors.flatMap((error) => {
    if (insideOfUnion.test(error.schemaPath) || isHidden(error, errors)) return [];
    const cause = causeOf(error);
    if (error.keyword !== "anyOf" && error.keyword !== "oneOf") return [cause];
    const first = `${error.schemaPath}/0/`;
    const inside = errors.filter(
      ({ schemaPath, instancePath }) =>
        schemaPath.startsWith(first) &&
        instancePath.startsWith(error.instancePath) &&
        !insideOfUnion.test(schemaPath.slice(first.length)),
    );
    return [cause, ...inside.map(causeOf)];
  });
}

/** Kubernetes reports only the first error of a string, in this order. */
const textKeywords = ["maxLength", "minLength", "pattern"];

function isHidden(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  const rank = textKeywords.indexOf(error.keyword);
  return (
    rank > 0 &&
    errors.some(
      ({ keyword, instancePath }) =>
        instancePath === error.instancePath && textKeywords.slice(0, rank).includes(keyword),
    )
  );
}

const insideOfUnion = /\/(?:anyOf|oneOf|not)\/./;

function causeOf(error: ErrorObject): Cause {
  const path = fieldPath(error.instancePath);
  const value: Json = error.data === undefined ? null : asJson(error.data);
  const inBody = path === "" ? "" : path;
  const wrong = (why: string, shown = quoted(value)): Cause => ({
    reason: "FieldValueInvalid",
    message: `Invalid value: ${shown}: ${inBody} in body ${why}`,
    field: shownField(path),
  });
  const limit = String(error.params["limit"]);
  const tooMany = (count: number): Cause => ({
    reason: "FieldValueTooMany",
    message: `Too many: ${count}: must have at most ${limit} items`,
    field: shownField(path),
  });
  switch (error.keyword) {
    case "type": {
      const given = jsonTypeOf(value);
      const { type } = error.params;
      const expected = isArray(type)
        ? type
            .filter((name) => name !== "null")
            .map((name) => plainText(name))
            .join(",")
        : String(type);
      const name = given === "integer" && expected === "string" ? "integer" : given;
      return {
        reason: "FieldValueTypeInvalid",
        message: `Invalid value: "${name}": ${inBody} in body must be of type ${expected}: "${name}"`,
        field: shownField(path),
      };
    }
    case "required": {
      const missing = String(error.params["missingProperty"]);
      return required(joined(path, missing));
    }
    case "enum": {
      const allowed: unknown = error.params["allowedValues"];
      const known = (isArray(allowed) ? allowed : []).filter((item) => item !== null);
      return notSupported(shownField(path), value, known);
    }
    case "minimum":
      return wrong(`should be greater than or equal to ${limit}`);
    case "exclusiveMinimum":
      return wrong(`should be greater than ${limit}`);
    case "maximum":
      return wrong(`should be less than or equal to ${limit}`);
    case "exclusiveMaximum":
      return wrong(`should be less than ${limit}`);
    case "multipleOf":
      return wrong(`should be a multiple of ${String(error.params["multipleOf"])}`);
    case "pattern":
      return wrong(`should match '${String(error.params["pattern"])}'`);
    case "format":
      return {
        ...wrong(`must be of type ${String(error.params["format"])}: ${quoted(value)}`),
        reason: "FieldValueTypeInvalid",
      };
    case "minLength":
      return wrong(`should be at least ${limit} chars long`);
    case "maxLength":
      return tooLong(shownField(path), limit);
    case "minItems":
      return wrong(`should have at least ${limit} items`, String(isArray(value) ? value.length : 0));
    case "maxItems":
      return tooMany(isArray(value) ? value.length : 0);
    case "minProperties":
      return wrong(`should have at least ${limit} properties`);
    case "maxProperties":
      return tooMany(Object.keys(isObject(value) ? value : {}).length);
    case "uniqueItems":
      return wrong("shouldn't contain duplicates");
    case "oneOf":
      return union(path, "must validate one and only one schema (oneOf)");
    case "anyOf":
      return union(path, "must validate at least one schema (anyOf)");
    case "not":
      return union(path, "must not validate the schema (not)");
    default:
      return wrong(error.message ?? "is not valid");
  }
}

function union(path: string, why: string): Cause {
  const message = `Invalid value: "": "${path}" ${why}`;
  return { reason: "FieldValueInvalid", message, field: "<nil>" };
}

/** `/spec/items/0/name` as `spec.items[0].name`. */
function fieldPath(pointer: string): string {
  let path = "";
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path = /^\d+$/.test(key) ? `${path}[${key}]` : joined(path, key);
  }
  return path;
}

function joined(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function shownField(path: string): string {
  return path === "" ? "<nil>" : path;
}

function asJson(data: unknown): Json {
  const copy: Json = JSON.parse(JSON.stringify(data) ?? "null");
  return copy;
}
