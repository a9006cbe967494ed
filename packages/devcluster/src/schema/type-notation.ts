import type { Json } from "../json/json.ts";
import { typeOfKind, typeTable } from "./built-in-type-table.ts";
import type { Schema } from "./schema.ts";

/*
 * The notation of `built-in-type-table.ts`. A line is the name of a struct, `!` when server-side apply takes it as one
 * value, and its fields: `name:type`, `name*:type` when the field is required, `name?:type` when Go leaves it out while it has the
 * zero value of its type. Types:
 *
 *   s string  b boolean  i int32  l int64  d double  y base64  t time  m time with six digits  q quantity
 *   x integer or string  o any object  j any JSON  {T} map of T  [T] list of T  Name another struct
 *
 * Behind a type: `!` atomic, `#` a set, `(a,b)` a list with keys, `^merge~name` patch strategy and merge key, `="TCP"` default.
 */

const letters: Readonly<Record<string, Schema>> = {
  s: { type: "string" },
  b: { type: "boolean" },
  i: { type: "integer", format: "int32" },
  l: { type: "integer", format: "int64" },
  d: { type: "number", format: "double" },
  y: { type: "string", format: "byte" },
  t: { type: "string", format: "date-time" },
  m: { type: "string", format: "micro-time" },
  q: { "x-kubernetes-int-or-string": true, format: "quantity" },
  x: { "x-kubernetes-int-or-string": true },
  o: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  j: { "x-kubernetes-preserve-unknown-fields": true },
};

/** The place of each type in the table; read at the first use. */
let lines: ReadonlyMap<string, string> | undefined;
const known = new Map<string, Schema>();

function lineOf(name: string): string {
  lines ??= new Map(
    typeTable
      .trim()
      .split("\n")
      .map((line) => {
        const end = line.indexOf(" ");
        return end < 0 ? [line, ""] : [line.slice(0, end), line.slice(end + 1)];
      }),
  );
  const line = lines.get(name);
  if (line === undefined) throw new Error(`the table of built-in types has no type ${name}`);
  return line;
}

/**
 * The schema of a built-in kind with all fields of kube-apiserver. A property that is a struct is computed at its first use,
 * since types may contain themselves. `x-go-type` names the struct. Throws for kinds that the table lacks.
 */
export function builtInSchema(group: string, kind: string): Schema {
  const type = typeOfKind[`${group}/${kind}`];
  if (type === undefined) throw new Error(`the table of built-in types has no kind ${kind} of the group "${group}"`);
  return structSchema(type);
}

/** The schema of a struct by its name in the table. */
export function structSchema(name: string): Schema {
  const present = known.get(name);
  if (present !== undefined) return present;
  const words = lineOf(name).split(" ");
  const isAtomic = words[0] === "!";
  const fields = (isAtomic ? words.slice(1) : words).filter((word) => word !== "");
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const word of fields) {
    const colon = word.indexOf(":");
    const [, key = "", mark] = /^(.*?)([*?]*)$/.exec(word.slice(0, colon)) ?? [];
    if (mark?.includes("*") === true) required.push(key);
    const isOmittedWhenEmpty = mark?.includes("?") === true;
    const notation = word.slice(colon + 1);
    let schema: Schema | undefined;
    const read = (): Schema =>
      isOmittedWhenEmpty ? { ...typeSchema(notation), "x-go-omitempty": true } : typeSchema(notation);
    Object.defineProperty(properties, key, { enumerable: true, get: () => (schema ??= read()) });
  }
  const schema: Schema = {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(isAtomic ? { "x-kubernetes-map-type": "atomic" } : {}),
    "x-go-type": name,
  };
  known.set(name, schema);
  return schema;
}

const suffixes =
  /^(?<atomic>!)?(?<set>#)?(?:\((?<keys>[^)]*)\))?(?:\^(?<strategy>[^~=]+))?(?:~(?<mergeKey>[^=]+))?(?:=(?<value>.+))?$/;

function typeSchema(notation: string): Schema {
  const end = endOfType(notation);
  const type = notation.slice(0, end);
  const isList = type.startsWith("[");
  const found = suffixes.exec(notation.slice(end))?.groups;
  if (found === undefined) throw new Error(`"${notation}" is not in the notation of types`);
  const { atomic, set, keys, strategy, mergeKey, value } = found;
  const listType = set !== undefined ? "set" : keys !== undefined ? "map" : "atomic";
  const extra: Record<string, Json> = {
    ...(isList ? { "x-kubernetes-list-type": listType } : {}),
    ...(keys === undefined ? {} : { "x-kubernetes-list-map-keys": keys.split(",") }),
    ...(atomic === undefined ? {} : { "x-kubernetes-map-type": "atomic" }),
    ...(strategy === undefined ? {} : { "x-kubernetes-patch-strategy": strategy }),
    ...(mergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": mergeKey }),
    ...(value === undefined ? {} : { default: defaultFrom(value) }),
  };
  const plain = plainSchema(type);
  return Object.keys(extra).length === 0 ? plain : { ...plain, ...extra };
}

function plainSchema(type: string): Schema {
  if (type.startsWith("[")) return { type: "array", items: typeSchema(type.slice(1, -1)) };
  if (type.startsWith("{")) return { type: "object", additionalProperties: typeSchema(type.slice(1, -1)) };
  return letters[type] ?? structSchema(type);
}

function endOfType(notation: string): number {
  if (notation[0] !== "[" && notation[0] !== "{") return /^[\w.]*/.exec(notation)?.[0].length ?? 0;
  let depth = 0;
  for (let index = 0; index < notation.length; index += 1) {
    const character = notation[index];
    if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth === 0) return index + 1;
  }
  return notation.length;
}

function defaultFrom(text: string): Json {
  const value: Json = JSON.parse(text);
  return value;
}

/** The fields that every object has, whatever its kind. */
export function objectSchemaFields(): Readonly<Record<string, Schema>> {
  const text: Schema = { type: "string" };
  return { apiVersion: text, kind: text, metadata: structSchema("ObjectMeta") };
}
