import { arrayAt, entriesOf, field, isObject, type Json, stringAt } from "../json/json.ts";
import type { Schema } from "../schema/schema.ts";
import type { Cause } from "../errors/status-error.ts";
import { invalidValue } from "../errors/field-errors.ts";
import { goPattern } from "./formats/go-pattern.ts";
import { compileRule } from "./rules/compile-rule.ts";

/** The patterns and rules of a schema that do not compile. */
export function schemaProblems(schema: Json | undefined, path: string): readonly Cause[] {
  if (!isObject(schema)) return [];
  const inProperties = entriesOf(field(schema, "properties")).flatMap(([key, child]) =>
    schemaProblems(child, `${path}.properties[${key}]`),
  );
  const below = ["additionalProperties", "items"].flatMap((key) =>
    schemaProblems(field(schema, key), `${path}.${key}`),
  );
  return [...patternProblems(schema, path), ...ruleProblems(schema, path), ...inProperties, ...below];
}

function patternProblems(schema: Schema, path: string): readonly Cause[] {
  const pattern = stringAt(schema, "pattern") ?? "";
  try {
    goPattern(pattern);
    return [];
  } catch (error) {
    const why = `must be a valid regular expression, but isn't: ${error instanceof Error ? error.message : String(error)}`;
    return [invalidValue(`${path}.pattern`, pattern, why)];
  }
}

function ruleProblems(schema: Schema, path: string): readonly Cause[] {
  return arrayAt(schema, "x-kubernetes-validations").flatMap((declaration, index) => {
    const result = compileRule(declaration);
    const place = `${path}.x-kubernetes-validations[${index}].rule`;
    return typeof result === "string" ? [invalidValue(place, stringAt(declaration, "rule") ?? "", result)] : [];
  });
}
