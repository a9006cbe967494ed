import { Optional } from "@marcbachmann/cel-js";
import { entriesOf, field, isArray, isObject, type Json, jsonEqual, stringAt } from "../../json/json.ts";
import { listMapKeysOf, listTypeOf, type Schema } from "../../schema/schema.ts";
import { quoted } from "../../json/quoting.ts";
import type { Cause } from "../../errors/status-error.ts";
import { celValueOf, sizeOf } from "./cel-value.ts";
import { type CompiledRule, firstLine } from "./compile-rule.ts";
import type { RuleTree } from "./rule-tree.ts";

/**
 * The maximum estimated cost of one rule on one value: nodes of the expression, times the size of the value for each nested
 * loop. Evaluation cannot be interrupted, so it does not start when it would take long.
 */
const costLimit = 5_000_000;

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
  if (!isArray(value) || tree.items === undefined) return own;
  const { items } = tree;
  return [
    ...own,
    ...value.flatMap((item, index) =>
      checkRules(items, item, counterpart(tree.schema, item, live), `${path}[${index}]`),
    ),
  ];
}

/** The stored item of a `map` list with the same keys; items of other lists have no counterpart. */
function counterpart(schema: Schema, item: Json, live: Json | undefined): Json | undefined {
  if (listTypeOf(schema) !== "map" || !isArray(live)) return undefined;
  const keys = listMapKeysOf(schema);
  return live.find((candidate) => keys.every((key) => jsonEqual(field(candidate, key), field(item, key))));
}

function checkRule(
  rule: CompiledRule,
  schema: Schema,
  value: Json,
  live: Json | undefined,
  path: string,
): readonly Cause[] {
  if (rule.usesOldSelf && live === undefined && !rule.optionalOldSelf) return [];
  // Ratcheting: a stored value may stay as it is, unless the rule is a transition rule.
  if (!rule.usesOldSelf && live !== undefined && jsonEqual(live, value)) return [];
  const at = path + pathSuffix(rule.fieldPath, path);
  if (rule.nodes * sizeOf(value) ** rule.loopDepth > costLimit) {
    const message = `Forbidden: no further validation rules will be run due to call cost exceeds limit for rule: ${rule.rule}`;
    return [{ reason: "FieldValueForbidden", message, field: shown(path) }];
  }
  const before = live === undefined ? undefined : celValueOf(live, schema);
  const context = {
    self: celValueOf(value, schema),
    oldSelf: rule.optionalOldSelf ? (before === undefined ? Optional.none() : Optional.of(before)) : before,
  };
  try {
    const result: unknown = rule.evaluate(context);
    if (result === true) return [];
    return [causeFor(rule, shownValue(value), messageOf(rule, context), at)];
  } catch (error) {
    return [causeFor(rule, shownType(schema), `${runtimeText(error)} evaluating rule: ${rule.message}`, at)];
  }
}

function messageOf(rule: CompiledRule, context: Readonly<Record<string, unknown>>): string {
  if (rule.messageExpression === undefined) return rule.message;
  try {
    const text: unknown = rule.messageExpression(context);
    // The message is the fallback for an expression that fails, or whose result is empty or has several lines.
    return typeof text === "string" && text.trim() !== "" && !text.includes("\n") ? text.trim() : rule.message;
  } catch {
    return rule.message;
  }
}

/** Kubernetes 1.35 shows a plain value as it is, and no other. */
function shownValue(value: Json): string | undefined {
  return isObject(value) || isArray(value) ? undefined : quoted(value);
}

function shownType(schema: Schema): string {
  return quoted(stringAt(schema, "type") ?? "object");
}

function causeFor(rule: CompiledRule, value: string | undefined, detail: string, path: string): Cause {
  const shownAfter = value === undefined ? "" : `: ${value}`;
  const text = ((): string => {
    switch (rule.reason) {
      case "FieldValueRequired":
        return `Required value: ${detail}`;
      case "FieldValueForbidden":
        return `Forbidden: ${detail}`;
      case "FieldValueDuplicate":
        return `Duplicate value${shownAfter}`;
      default:
        return `Invalid value${shownAfter}: ${detail}`;
    }
  })();
  return { reason: rule.reason, message: text, field: shown(path) };
}

function runtimeText(error: unknown): string {
  const text = firstLine(error);
  return text.replace(/^No such key/, "no such key");
}

/** `.spec.size` or `['a-b']`, as `fieldPath` spells it, below a path. */
function pathSuffix(fieldPath: string, path: string): string {
  const plain = fieldPath.replaceAll(/\['([^']*)'\]/g, ".$1");
  return path === "" ? plain.replace(/^\./, "") : plain;
}

function shown(path: string): string {
  return path === "" ? "<nil>" : path;
}
