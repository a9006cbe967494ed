import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { SchemaPipeline } from "../../resources/resource-definition.ts";
import type { Schema } from "../../schema/schema.ts";
import { field, isArray, isObject, type Json, type JsonObject, objectAt, withField } from "../../json/json.ts";
import type { Cause } from "../../errors/status-error.ts";
import { toAjvSchema } from "./ajv-schema.ts";
import { causesOf } from "./ajv-errors.ts";
import { fillDefaults } from "./fill-defaults.ts";
import { stringFormats } from "../formats/formats.ts";
import { goPattern } from "../formats/go-pattern.ts";
import { duplicateItems } from "./list-uniqueness.ts";
import { prune } from "../../schema/prune.ts";
import { checkRules } from "../rules/check-rules.ts";
import { type RuleTree, ruleTreeOf } from "../rules/rule-tree.ts";

/** More errors are of no use to a reader. */
const causeLimit = 20;

/** Pruning, defaulting and validation by the structural schema of a CRD. The validator is compiled at its first use. */
export function structuralPipeline(schema: Schema): SchemaPipeline {
  let validator: ValidateFunction | undefined;
  let rules: { readonly tree: RuleTree | undefined } | undefined;
  return {
    prepare(object) {
      const pruned = prune(object, schema);
      return { object: fillDefaults(pruned.object, schema), unknown: pruned.unknown };
    },
    validate(object, live, part = "all") {
      validator ??= compile(schema);
      rules ??= { tree: ruleTreeOf(schema) };
      const errors = validator(object) ? [] : (validator.errors ?? []);
      const causes = [
        ...causesOf(errors.filter((error) => !isUnchanged(error, live) && isOf(error, part))).map((cause) =>
          part === "status" ? relativeToStatus(cause) : cause,
        ),
        ...duplicateItems(object, schema),
      ];
      const isBlocked = causes.some(({ reason }) => blocking.has(reason));
      if (isBlocked && rules.tree !== undefined) return [...causes.slice(0, causeLimit), rulesNotChecked];
      const broken = isBlocked ? [] : checkRules(rules.tree, object, live);
      return [...causes, ...broken].slice(0, causeLimit);
    },
  };
}

/** A write of the status is validated against the schema of the status alone. */
function isOf({ instancePath, params }: ErrorObject, part: "all" | "status"): boolean {
  if (part === "all") return true;
  return /^\/status(?:\/|$)/.test(instancePath) || (instancePath === "" && params["missingProperty"] === "status");
}

/** Kubernetes leaves out `status.` in the text of an error in the status, and has it in the field. */
function relativeToStatus(cause: Cause): Cause {
  return { ...cause, message: cause.message.replace(/(?<=: )status(?:\.|(?= in body))/, "") };
}

/** Errors after which rules do not run, because rules rely on the schema. */
const blocking: ReadonlySet<string> = new Set([
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

const rulesNotChecked: Cause = {
  reason: "FieldValueInvalid",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing " +
    "errors to complete validation",
  field: "<nil>",
};

/**
 * Ratcheting: a value that was valid under an older schema may stay while other fields change. Source: Kubernetes documentation,
 * "Validation ratcheting".
 */
function isUnchanged(error: ErrorObject, live: JsonObject | undefined): boolean {
  if (live === undefined || error.instancePath === "" || error.data === undefined) return false;
  let before: Json | undefined = live;
  for (const part of error.instancePath.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    // The index of an item does not identify it in the old list.
    if (isArray(before)) return false;
    before = field(before, key);
  }
  const data: unknown = error.data;
  return before !== undefined && JSON.stringify(before) === JSON.stringify(data);
}

/** Patterns are in Go's syntax. The library keeps compiled patterns by their text. */
const goRegExp = Object.assign(
  (pattern: string): { test(text: string): boolean; toString(): string } => ({
    test: (text) => goPattern(pattern).test(text),
    toString: () => pattern,
  }),
  { code: "goRegExp" },
);

function compile(schema: Schema): ValidateFunction {
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    verbose: true,
    ownProperties: true,
    unicodeRegExp: false,
    logger: false,
    code: { regExp: goRegExp },
  });
  for (const [name, test] of Object.entries(stringFormats)) ajv.addFormat(name, test);
  // The server itself validates the metadata of objects of all kinds.
  const hasMetadata = isObject(objectAt(schema, "properties")["metadata"]);
  const own = hasMetadata ? withField(schema, ["properties", "metadata"], { type: "object" }) : schema;
  return ajv.compile(toAjvSchema(own));
}
