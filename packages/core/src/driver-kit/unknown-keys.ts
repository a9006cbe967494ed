import { nearestName } from "@millwright/base";
import { joinPath } from "../api/problems/field-problem.ts";
import type { Driver } from "../driver/driver.ts";
import { anyCaseKeyword } from "../driver/go-object.ts";
import type { StandardSchemaV1 } from "../driver/standard-schema.ts";

/** A key of a spec that its driver ignores. */
export interface UnknownKey {
  /** As in problems: `providerSpec.fallbacks[0].spotPrce`. */
  readonly path: string;
  /** The key that was probably meant; absent when none is near. */
  readonly nearest?: string;
}

/** More unknown keys than anyone reads at once. */
const maxKeys = 10;
const maxDepth = 64;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const get = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;

/**
 * The JSON Schema of what a schema reads, where its library makes one (https://standardschema.dev/json-schema). This is how a driver declares the keys that it knows, nested ones, too; `undefined`: it
 * declares none.
 */
export function jsonSchemaOf(
  schema: StandardSchemaV1 | undefined,
  target: "draft-2020-12" | "draft-07" = "draft-2020-12",
): unknown {
  try {
    const make = get(get(schema?.["~standard"], "jsonSchema"), "input");
    return typeof make === "function" ? make({ target }) : undefined;
  } catch {
    // JSON Schema cannot express it.
    return undefined;
  }
}

/** The schemas that may apply to a value: references are resolved, alternatives listed. */
function variantsOf(schema: unknown, root: unknown, depth = 0): readonly object[] {
  if (!isObject(schema) || depth > maxDepth) return [];
  const reference = get(schema, "$ref");
  if (typeof reference === "string") {
    const target = reference
      .split("/")
      .slice(1)
      .reduce((at, key) => get(at, key), root);
    return variantsOf(target, root, depth + 1);
  }
  const parts = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => {
    const listed = get(schema, keyword);
    return Array.isArray(listed) ? listed.flatMap((part: unknown) => variantsOf(part, root, depth + 1)) : [];
  });
  return [schema, ...parts];
}

/** What the schemas of an object contain about its keys. */
function knownKeys(variants: readonly object[]): {
  readonly known: ReadonlyMap<string, readonly unknown[]>;
  /** Schemas of keys without an entry; `undefined`: they are unknown. */
  readonly others: readonly unknown[] | undefined;
  readonly keyOf: (key: string) => string;
} {
  const isAnyCase = variants.some((variant) => get(variant, anyCaseKeyword) === true);
  const keyOf = (key: string): string => (isAnyCase ? key.toLowerCase() : key);
  const known = new Map<string, readonly unknown[]>();
  for (const properties of variants.map((variant) => get(variant, "properties")).filter(isObject))
    for (const [key, schema] of Object.entries(properties)) known.set(key, [...(known.get(key) ?? []), schema]);
  const open = variants
    .flatMap((variant) => [get(variant, "additionalProperties"), get(variant, "patternProperties")])
    .filter((others) => others !== undefined && others !== false);
  return { known, others: open.length > 0 || known.size === 0 ? open : undefined, keyOf };
}

/** The keys of `providerSpec` that a driver ignores, by the JSON Schema of its spec. None for a driver that declares none; keys that the schema rejects are problems, not these. */
export function unknownKeysOf(driver: Pick<Driver, "spec">, providerSpec: unknown): readonly UnknownKey[] {
  const root = jsonSchemaOf(driver.spec);
  const found: UnknownKey[] = [];
  const visitList = (list: readonly unknown[], variants: readonly object[], path: string, depth: number): void => {
    const items = variants.map((variant) => get(variant, "items"));
    for (const [index, item] of list.entries()) visit(item, items, joinPath(path, index), depth);
  };
  const visit = (value: unknown, schemas: readonly unknown[], path: string, depth: number): void => {
    if (!isObject(value) || depth > maxDepth || found.length >= maxKeys) return;
    const variants = schemas.flatMap((schema) => variantsOf(schema, root));
    if (variants.length === 0) return;
    if (Array.isArray(value)) return visitList(value, variants, path, depth + 1);
    const { known, others, keyOf } = knownKeys(variants);
    const names = [...known.keys()];
    for (const [key, child] of Object.entries(value)) {
      const name = names.find((each) => keyOf(each) === keyOf(key));
      const at = joinPath(path, key);
      const below = name === undefined ? others : known.get(name);
      if (below !== undefined) visit(child, below, at, depth + 1);
      else if (found.length < maxKeys) {
        const nearest = nearestName(key, names);
        found.push(nearest === undefined ? { path: at } : { path: at, nearest });
      }
    }
  };
  visit(providerSpec, [root], "providerSpec", 0);
  return found;
}

/** Unknown keys as a list for people: `providerSpec.spotPrce (did you mean "spotPrice"?)`. */
export const formatUnknownKeys = (keys: readonly UnknownKey[]): string =>
  keys
    .map(({ path, nearest }) => (nearest === undefined ? path : `${path} (did you mean "${nearest}"?)`))
    .join(", ")
    .replaceAll(/\s+/g, " ");
