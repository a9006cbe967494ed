import { entriesOf, field, isArray, isObject, type Json, jsonEqual, stringAt } from "../../json/json.ts";
import type { Schema } from "../../schema/schema.ts";
import { quoted } from "../../json/quoting.ts";
import type { Cause } from "../../errors/status-error.ts";
import { celValueOf } from "./cel-value.ts";
import { type CompiledRule, firstLine } from "./compile-rule.ts";
import type { RuleTree } from "./rule-tree.ts";

/** Runs the rules of a schema. `live` is the stored value; undefined for a new one. */
export function checkRules(
  tree: RuleTree | undefined,
  value: Json | undefined,
  live: Json | undefined,
  path = "",
): readonly Cause[] {
  if (tree === undefined || value === undefined || value === null) return [];
  const own = tree.rules.flatMap((rule) => checkRule(rule, tree.schema, value, live, path));
  if (isObject(value)) {
    const inside = entriesOf(value).flatMap(([key, child]) => {
      const named = tree.properties.get(key);
      const childPath = named === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      return checkRules(named ?? tree.additional, child, field(live, key), childPath);
    });
    return [...own, ...inside];
  }
  if (!isArray(value)) return own;
  // The index of an item does not identify it in the stored list.
  return [...own, ...value.flatMap((item, index) => checkRules(tree.items, item, undefined, `${path}[${index}]`))];
}

function checkRule(
  rule: CompiledRule,
  schema: Schema,
  value: Json,
  live: Json | undefined,
  path: string,
): readonly Cause[] {
  if (rule.usesOldSelf && live === undefined) return [];
  // Ratcheting: a stored value may stay as it is, unless the rule is a transition rule.
  if (!rule.usesOldSelf && live !== undefined && jsonEqual(live, value)) return [];
  const context = {
    self: celValueOf(value, schema),
    oldSelf: live === undefined ? undefined : celValueOf(live, schema),
  };
  // Kubernetes 1.35 shows a plain value as it is, and no other.
  const shown = isObject(value) || isArray(value) ? "" : `: ${quoted(value)}`;
  try {
    const result: unknown = rule.evaluate(context);
    return result === true ? [] : [invalid(`${shown}: ${rule.message}`, path)];
  } catch (error) {
    const why = firstLine(error).replace(/^No such key/, "no such key");
    const type = quoted(stringAt(schema, "type") ?? "object");
    return [invalid(`: ${type}: ${why} evaluating rule: ${rule.message}`, path)];
  }
}

const invalid = (detail: string, path: string): Cause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value${detail}`,
  field: path === "" ? "<nil>" : path,
});
