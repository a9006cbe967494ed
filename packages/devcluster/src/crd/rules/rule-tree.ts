import { arrayAt, entriesOf, field, isObject } from "../../json.ts";
import type { Schema } from "../../kinds/schema.ts";
import type { Cause } from "../../status.ts";
import { type CompiledRule, compileRule, isCompiled } from "./compile-rule.ts";

/** The rules of a schema, at the places where they stand; parts of the schema without rules are left out. */
export interface RuleTree {
  readonly schema: Schema;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly additional: RuleTree | undefined;
  readonly items: RuleTree | undefined;
}

/** Compiles the rules of a schema; undefined when it has none. Rules that cannot be compiled were refused with their CRD. */
export function ruleTreeOf(schema: Schema): RuleTree | undefined {
  const rules = arrayAt(schema, "x-kubernetes-validations").map(compileRule).filter(isCompiled);
  const properties = new Map<string, RuleTree>();
  for (const [key, child] of entriesOf(field(schema, "properties"))) {
    const tree = isObject(child) ? ruleTreeOf(child) : undefined;
    if (tree !== undefined) properties.set(key, tree);
  }
  const below = (key: string): RuleTree | undefined => {
    const child = field(schema, key);
    return isObject(child) ? ruleTreeOf(child) : undefined;
  };
  const additional = below("additionalProperties");
  const items = below("items");
  const isEmpty = rules.length === 0 && properties.size === 0 && additional === undefined && items === undefined;
  return isEmpty ? undefined : { schema, rules, properties, additional, items };
}

/** What is wrong with the rules of a schema, for the author of the CRD. */
export function ruleProblems(schema: Schema, path: string): readonly Cause[] {
  const own = arrayAt(schema, "x-kubernetes-validations").flatMap((declaration, index): Cause[] => {
    const place = `${path}.x-kubernetes-validations[${index}]`;
    const rule = field(declaration, "rule");
    if (typeof rule !== "string" || rule.trim() === "") {
      return [
        { reason: "FieldValueRequired", message: "Required value: rule is not specified", field: `${place}.rule` },
      ];
    }
    const result = compileRule(declaration);
    if (isCompiled(result)) return [];
    const shown = JSON.stringify(field(declaration, result.field) ?? "");
    const message = `Invalid value: ${shown}: ${result.message}`;
    return [{ reason: "FieldValueInvalid", message, field: `${place}.${result.field}` }];
  });
  const below = (key: string): readonly Cause[] => {
    const child = field(schema, key);
    return isObject(child) ? ruleProblems(child, `${path}.${key}`) : [];
  };
  const inProperties = entriesOf(field(schema, "properties")).flatMap(([key, child]) =>
    isObject(child) ? ruleProblems(child, `${path}.properties[${key}]`) : [],
  );
  return [...own, ...inProperties, ...below("additionalProperties"), ...below("items")];
}
