import { entriesOf, field, isObject, type Json } from "../../json/json.ts";
import { quoted } from "../../json/quoting.ts";
import type { Schema } from "../../schema/schema.ts";
import type { Cause } from "../../errors/status-error.ts";
import { dropUnknown } from "../../schema/prune.ts";
import { schemaChecks } from "../custom-objects/structural-pipeline.ts";
import { invalidValue } from "../../errors/field-errors.ts";

/** Validates defaults by their own schema. */
export function defaultProblems(schema: Schema, path: string): readonly Cause[] {
  const fallback = field(schema, "default");
  const own = fallback === undefined || fallback === null ? [] : problemsOf(fallback, schema, `${path}.default`);
  const below = (key: string): readonly Cause[] => {
    const child = field(schema, key);
    return isObject(child) ? defaultProblems(child, `${path}.${key}`) : [];
  };
  const inProperties = entriesOf(field(schema, "properties")).flatMap(([key, child]) =>
    isObject(child) ? defaultProblems(child, `${path}.properties[${key}]`) : [],
  );
  return [...own, ...inProperties, ...below("additionalProperties"), ...below("items")];
}

function problemsOf(fallback: Json, schema: Schema, path: string): readonly Cause[] {
  const { unknown } = dropUnknown({ value: fallback }, { type: "object", properties: { value: schema } });
  if (unknown.length > 0) return [invalidValue(path, fallback, "must not have unknown fields")];
  return schemaChecks(schema, fallback).map((cause) => ({
    ...cause,
    field: cause.field === undefined || cause.field === "<nil>" ? path : `${path}.${cause.field}`,
    message: cause.reason === "FieldValueRequired" ? `Required value` : cause.message.replace(quoted(""), quoted("")),
  }));
}
