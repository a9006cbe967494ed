import { arrayAt, entriesOf, field, isObject, type Json } from "../../json/json.ts";
import type { Schema } from "../../schema/schema.ts";
import { type CompiledRule, compileRule } from "./compile-rule.ts";

/** The rules of a schema by their place; subschemas without rules are left out. */
export interface RuleTree {
  readonly schema: Schema;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly additional: RuleTree | undefined;
  readonly items: RuleTree | undefined;
}

/**
 * Compiles the rules of a schema; undefined when it has none. Validation of the CRD rejects rules that do not compile.
 */
export function ruleTreeOf(schema: Json | undefined): RuleTree | undefined {
  if (!isObject(schema)) return undefined;
  const rules = arrayAt(schema, "x-kubernetes-validations")
    .map(compileRule)
    .filter((rule) => typeof rule !== "string");
  const properties = new Map<string, RuleTree>();
  for (const [key, child] of entriesOf(field(schema, "properties"))) {
    const tree = ruleTreeOf(child);
    if (tree !== undefined) properties.set(key, tree);
  }
  const additional = ruleTreeOf(field(schema, "additionalProperties"));
  const items = ruleTreeOf(field(schema, "items"));
  const isEmpty = rules.length === 0 && properties.size === 0 && additional === undefined && items === undefined;
  return isEmpty ? undefined : { schema, rules, properties, additional, items };
}
