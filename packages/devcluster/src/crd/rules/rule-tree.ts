import { arrayAt, at, entriesOf, field, isObject, type Json, stringAt } from "../../json/json.ts";
import type { Schema } from "../../schema/schema.ts";
import type { Cause } from "../../errors/status-error.ts";
import { invalidValue, notSupported, required } from "../../errors/field-errors.ts";
import { type CompiledRule, compileRule, isCompiled } from "./compile-rule.ts";

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

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Validates the rules of a schema, for the author of the CRD. */
export function ruleProblems(schema: Schema, path: string): readonly Cause[] {
  const own = arrayAt(schema, "x-kubernetes-validations").flatMap((declaration, index) =>
    declarationProblems(declaration, schema, `${path}.x-kubernetes-validations[${index}]`),
  );
  const below = (key: string): readonly Cause[] => {
    const child = field(schema, key);
    return isObject(child) ? ruleProblems(child, `${path}.${key}`) : [];
  };
  const inProperties = entriesOf(field(schema, "properties")).flatMap(([key, child]) =>
    isObject(child) ? ruleProblems(child, `${path}.properties[${key}]`) : [],
  );
  return [...own, ...inProperties, ...below("additionalProperties"), ...below("items")];
}

function declarationProblems(declaration: Json, schema: Schema, place: string): readonly Cause[] {
  const rule = stringAt(declaration, "rule") ?? "";
  if (rule.trim() === "") return [required(`${place}.rule`, "rule is not specified")];
  const causes: Cause[] = [];
  const message = stringAt(declaration, "message") ?? "";
  if (message.includes("\n")) causes.push(invalidValue(`${place}.message`, message, "must not contain line breaks"));
  const reason = stringAt(declaration, "reason");
  if (reason !== undefined && !reasons.includes(reason)) causes.push(notSupported(`${place}.reason`, reason, reasons));
  const fieldPath = stringAt(declaration, "fieldPath") ?? "";
  if (fieldPath !== "" && !existsInSchema(fieldPath, schema)) {
    causes.push(invalidValue(`${place}.fieldPath`, fieldPath, "must be a valid path"));
  }
  const result = compileRule(declaration);
  if (isCompiled(result)) return causes;
  const shown: Json = {
    Rule: rule,
    Message: message,
    MessageExpression: stringAt(declaration, "messageExpression") ?? "",
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: field(declaration, "optionalOldSelf") ?? null,
  };
  return [...causes, invalidValue(`${place}.${result.field}`, shown, result.message)];
}

/** Whether a path (`.a.b`, `['a-b']`) names a property of a schema. */
function existsInSchema(path: string, schema: Schema): boolean {
  let current: Json | undefined = schema;
  let rest = path;
  while (rest !== "") {
    const step = /^(?:\.([A-Za-z_$][\w$]*)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest);
    const key = step?.[1] ?? step?.[2];
    if (step === null || key === undefined) return false;
    const additional: Json | undefined = field(current, "additionalProperties");
    current = at(current, "properties", key) ?? (isObject(additional) ? additional : undefined);
    if (current === undefined) return false;
    rest = rest.slice(step[0].length);
  }
  return true;
}
