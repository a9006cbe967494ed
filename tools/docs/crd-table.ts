import { isRecord } from "@millwright/base";
import { markdownTable } from "./markdown-table.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A schema by its own fields; anything else has none. */
const schemaOf = (value: unknown): Schema => (isRecord(value) ? value : {});

const code = (text: string): string => `\`${text}\``;

/** Shapes that have a table of their own: where one occurs again, the row links to it. By {@link shapeOf}. */
export type SharedShapes = ReadonlyMap<string, string>;

/** A schema without texts and rules, so that the same shape in two kinds is equal. */
export function shapeOf(value: unknown): string {
  return JSON.stringify(value, (key, each: unknown) =>
    key === "description" || key.startsWith("x-kubernetes-validations") ? undefined : each,
  );
}

/** What a field may hold. */
function typeOf(schema: Schema): string {
  if (schema["x-kubernetes-int-or-string"] === true) return "number or percentage";
  switch (schema["type"]) {
    case "array":
      return `list of ${typeOf(schemaOf(schema["items"]))}`;
    case "object":
      return isRecord(schema["additionalProperties"]) ? "map" : "object";
    case "string":
      return schema["format"] === "date-time" ? "time" : "text";
    default:
      return typeof schema["type"] === "string" ? schema["type"] : "anything";
  }
}

/** What the rules of a field require beyond its type; numbers and durations of zero or more need no words. */
const rulesOf = (schema: Schema): readonly string[] =>
  (Array.isArray(schema["x-kubernetes-validations"]) ? schema["x-kubernetes-validations"] : [])
    .flatMap((rule: unknown) => (isRecord(rule) && typeof rule["message"] === "string" ? [rule["message"]] : []))
    .filter((message) => !message.includes("zero or more"));

/** The meaning of a field, and its default, which the CRDs have as the last sentence of the description. */
function describe(schema: Schema): { readonly meaning: string; readonly preset: string } {
  const text = typeof schema["description"] === "string" ? schema["description"] : "";
  const [, meaning = text, preset = ""] = /^(.*?)\s*Default: (.*)\.$/.exec(text) ?? [];
  const rules = rulesOf(schema);
  const parts = [meaning, ...(rules.length === 0 ? [] : [`Rule: ${rules.join("; ")}.`])];
  return { meaning: parts.join(" ").replace("Go duration such as 20m or 1h30m", "a Go duration"), preset };
}

function rowsOf(schema: Schema, prefix: string, shared: SharedShapes): readonly (readonly string[])[] {
  const { properties, required } = schema;
  if (!isRecord(properties)) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([name, value]) => {
    const field = schemaOf(value);
    const path = `${prefix}${name}`;
    const { meaning, preset } = describe(field);
    const link = shared.get(shapeOf(field));
    const row = (type: string): readonly string[] => [
      code(path),
      type,
      needed.includes(name) ? "required" : preset.startsWith("--") ? code(preset) : preset,
      meaning,
    ];
    if (link !== undefined) return [row(link)];
    const items = schemaOf(field["items"]);
    const below = field["type"] === "array" ? rowsOf(items, `${path}[].`, shared) : rowsOf(field, `${path}.`, shared);
    return [row(typeOf(field)), ...below];
  });
}

/** Every field below a part of a CRD's schema as a table, with paths that begin with `prefix`. A shape of `shared` is one row with its link. */
export const crdTable = (schema: unknown, prefix: string, shared: SharedShapes): string =>
  markdownTable(["field", "type", "default", "meaning"], rowsOf(schemaOf(schema), prefix, shared));
