import { Ajv, type ValidateFunction } from "ajv";
import type { SchemaPipeline } from "../kinds/resource-definition.ts";
import type { Schema } from "../kinds/schema.ts";
import { isObject, withField, objectAt } from "../json.ts";
import { toAjvSchema } from "./ajv-schema.ts";
import { causeOf } from "./field-errors.ts";
import { fillDefaults } from "./fill-defaults.ts";
import { integerFormats, stringFormats } from "./formats.ts";
import { duplicateItems } from "./list-uniqueness.ts";
import { prune } from "./prune.ts";

/** More findings than this tell nobody anything. */
const causeLimit = 20;

/** Pruning, defaulting and validation by the structural schema of a CRD. The validator is compiled at its first use. */
export function structuralPipeline(schema: Schema): SchemaPipeline {
  let validator: ValidateFunction | undefined;
  return {
    prepare(object) {
      const pruned = prune(object, schema);
      return { object: fillDefaults(pruned.object, schema), unknown: pruned.unknown };
    },
    validate(object) {
      validator ??= compile(schema);
      if (validator(object)) return duplicateItems(object, schema);
      const causes = (validator.errors ?? []).flatMap((error) => causeOf(error) ?? []);
      return causes.slice(0, causeLimit);
    },
  };
}

function compile(schema: Schema): ValidateFunction {
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    verbose: true,
    ownProperties: true,
    unicodeRegExp: false,
    logger: false,
  });
  for (const [name, test] of Object.entries(stringFormats)) ajv.addFormat(name, test);
  for (const [name, { minimum, maximum }] of Object.entries(integerFormats)) {
    ajv.addFormat(name, { type: "number", validate: (value: number) => value >= minimum && value <= maximum });
  }
  // The metadata of every object is checked by the server itself, for all kinds alike.
  const hasMetadata = isObject(objectAt(schema, "properties")["metadata"]);
  const own = hasMetadata ? withField(schema, ["properties", "metadata"], { type: "object" }) : schema;
  return ajv.compile(toAjvSchema(own));
}
