import { isRecord } from "@millwright/base";
import { markdownTable } from "./markdown-table.ts";

/** The part of JSON Schema that zod writes for the specs of drivers. */
interface JsonSchema {
  readonly type?: unknown;
  readonly description?: unknown;
  readonly default?: unknown;
  readonly enum?: unknown;
  readonly properties?: unknown;
  readonly required?: unknown;
  readonly items?: unknown;
  readonly additionalProperties?: unknown;
}

/** A schema by its own fields; a JSON Schema is data of another program. */
const schemaOf = (value: unknown): JsonSchema => (isRecord(value) ? value : {});

const code = (text: string): string => `\`${text}\``;

/** What a field may hold. */
function typeOf({ type, enum: values, items, additionalProperties }: JsonSchema): string {
  if (Array.isArray(values)) {
    return values
      .filter((value) => value !== "")
      .map((value) => code(String(value)))
      .join(", ");
  }
  if (type === "array") return `list of ${typeOf(schemaOf(items))}`;
  if (type === "object") return isRecord(additionalProperties) ? "map of texts" : "object";
  if (type === "string") return "text";
  return type === "boolean" || type === "integer" || type === "number" ? type : "anything";
}

/** What a field is when it is left out: `required`, its default, or nothing. */
function defaultOf(schema: JsonSchema, isRequired: boolean): string {
  if (Object.hasOwn(schema, "default")) {
    const text = JSON.stringify(schema.default);
    return text === "[]" || text === '""' || text === "{}" ? "none" : code(text);
  }
  return isRequired ? "required" : "";
}

function rowsOf(schema: JsonSchema, prefix: string): readonly (readonly string[])[] {
  if (!isRecord(schema.properties)) return [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).flatMap(([name, value]) => {
    const field = schemaOf(value);
    const path = `${prefix}${name}`;
    const row = [
      code(path),
      typeOf(field),
      defaultOf(field, required.includes(name)),
      typeof field.description === "string" ? field.description : "",
    ];
    const below = field.type === "array" ? rowsOf(schemaOf(field.items), `${path}[].`) : rowsOf(field, `${path}.`);
    return [row, ...below];
  });
}

/** Every field of an object as a table, those of nested objects and lists under their paths. Takes what `z.toJSONSchema` gives. */
export const schemaTable = (schema: unknown): string =>
  markdownTable(["field", "type", "default", "meaning"], rowsOf(schemaOf(schema), ""));
