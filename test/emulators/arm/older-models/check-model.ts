import * as z from "zod";
import { publishedModels } from "./published-models.ts";

/** A resource provider with a model. */
export type ModelProvider = keyof typeof publishedModels;

const lineSchema = z.tuple([z.string(), z.record(z.string(), z.string())]);

/** The fields of a class by name; those below `properties` are a separate part. */
interface Fields {
  readonly [name: string]: string | Fields;
}

const classesOf = (table: string): ReadonlyMap<string, Fields> =>
  new Map(
    table
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [name, types] = lineSchema.parse(JSON.parse(line));
        return [name, nested(Object.entries(types))];
      }),
  );

/** Builds a tree of paths with dots. */
function nested(types: readonly (readonly [string, string])[]): Fields {
  const fields: Record<string, string | Fields> = {};
  const below = new Map<string, (readonly [string, string])[]>();
  for (const [path, type] of types) {
    const [first = "", ...rest] = path.split(".");
    if (rest.length === 0) fields[first] = type;
    else below.set(first, [...(below.get(first) ?? []), [rest.join("."), type]]);
  }
  for (const [first, deeper] of below) fields[first] = nested(deeper);
  return fields;
}

const models: Readonly<Record<ModelProvider, ReadonlyMap<string, Fields>>> = {
  "Microsoft.Compute": classesOf(publishedModels["Microsoft.Compute"]),
  "Microsoft.Network": classesOf(publishedModels["Microsoft.Network"]),
};

/** The sender of a body: a client may not set read-only fields. */
export type BodyOf = "client" | "cloud";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Compares a body with a published class, and returns a sentence for each difference.
 *
 * Types are `string`, `number`, `boolean`, `any`, `enum:a|b`, the name of a class, a list `[]` or a map `{}` of one of these; with a leading `!` for read-only fields.
 */
export function differencesFromModel(
  provider: ModelProvider,
  className: string,
  body: unknown,
  of: BodyOf,
): readonly string[] {
  const differences: string[] = [];
  const classes = models[provider];

  const compareFields = (fields: Fields, value: unknown, path: string): void => {
    if (!isObject(value)) {
      differences.push(`${path} must be an object`);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      const at = path === "" ? name : `${path}.${name}`;
      const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (type === undefined) differences.push(`${at} is not in the published model ${className}`);
      else if (typeof type === "string") compare(type, inner, at);
      else compareFields(type, inner, at);
    }
  };

  const compare = (type: string, value: unknown, path: string): void => {
    if (type.startsWith("!")) {
      if (of === "client") differences.push(`${path} can only be set by Azure`);
      compare(type.slice(1), value, path);
    } else if (type.startsWith("[]")) {
      if (!Array.isArray(value)) differences.push(`${path} must be a list`);
      else for (const item of value) compare(type.slice(2), item, `${path}[]`);
    } else if (type.startsWith("{}")) {
      if (!isObject(value)) differences.push(`${path} must be a map`);
      else for (const item of Object.values(value)) compare(type.slice(2), item, `${path}{}`);
    } else if (type.startsWith("enum:")) {
      const values = type.slice("enum:".length).split("|");
      if (!values.includes(String(value))) differences.push(`${path} must be one of ${values.join(", ")}`);
    } else if (type === "string" || type === "number" || type === "boolean") {
      if (typeof value !== type) differences.push(`${path} must be a ${type}`);
    } else if (type !== "any") {
      compareFields(classes.get(type) ?? {}, value, path);
    }
  };

  compareFields(classes.get(className) ?? {}, body, "");
  return differences;
}
