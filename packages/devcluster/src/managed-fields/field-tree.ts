import { entriesOf, field, isArray, isObject, type Json, jsonEqual, type JsonObject } from "../json/json.ts";
import {
  defaultOf,
  isAtomicMap,
  itemSchema,
  listMapKeysOf,
  listTypeOf,
  propertySchema,
  type Schema,
} from "../schema/schema.ts";
import { emptySet, type FieldSet, isEmptySet } from "./field-set.ts";

/** A field set whose leaves have values, to compare two states of an object. */
export interface FieldTree extends FieldSet {
  readonly children: ReadonlyMap<string, FieldTree>;
  /** The value of a leaf; undefined for nodes with children. */
  readonly value: Json | undefined;
}

/** Metadata of the server itself, which has no field owner. */
const unownedMetadata: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "managedFields",
]);

/** The fields of an object that can have an owner. */
export function fieldTreeOf(object: JsonObject, schema: Schema): FieldTree {
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  const metadata = field(rest, "metadata");
  const owned = isObject(metadata)
    ? Object.fromEntries(entriesOf(metadata).filter(([key]) => !unownedMetadata.has(key)))
    : {};
  const { metadata: _metadata, ...withoutMetadata } = rest;
  const isBare = Object.keys(owned).length === 0;
  const tree = treeOfValue(isBare ? withoutMetadata : { ...withoutMetadata, metadata: owned }, schema, false);
  return { ...tree, isMember: false };
}

/** The path element of a list item: its keys for map lists, its value for sets. */
export function elementOf(item: Json, schema: Schema | undefined): string {
  if (listTypeOf(schema) === "set") return `v:${JSON.stringify(item)}`;
  const keys: [string, Json][] = [];
  for (const key of listMapKeysOf(schema).toSorted()) {
    const value = field(item, key) ?? defaultOf(propertySchema(itemSchema(schema), key));
    if (value !== undefined) keys.push([key, value]);
  }
  return `k:${JSON.stringify(Object.fromEntries(keys))}`;
}

/** Whether a value is owned as a whole. */
export function isAtomic(value: Json, schema: Schema | undefined): boolean {
  if (isArray(value)) return listTypeOf(schema) === "atomic";
  return !isObject(value) || isAtomicMap(schema);
}

function treeOfValue(value: Json, schema: Schema | undefined, isMember: boolean): FieldTree {
  if (isAtomic(value, schema)) return { isMember: true, children: new Map(), value };
  const children = new Map<string, FieldTree>();
  if (isArray(value)) {
    const items = itemSchema(schema);
    for (const item of value) children.set(elementOf(item, schema), treeOfValue(item, items, true));
    return { isMember: isMember || value.length === 0, children, value: undefined };
  }
  const declared = field(schema, "properties");
  const entries = entriesOf(value);
  for (const [key, child] of entries) {
    const isEntryOfMap = !isObject(declared) || !Object.hasOwn(declared, key);
    children.set(`f:${key}`, treeOfValue(child, propertySchema(schema, key), isEntryOfMap));
  }
  return { isMember: isMember || entries.length === 0, children, value: undefined };
}

/**
 * Containers that Go's types write even when they are empty. They exist before a client fills them, so they have no owner.
 */
const defaultContainers: ReadonlySet<string> = new Set([
  "f:metadata",
  "f:spec",
  "f:status",
  "f:spec/f:containers",
  "f:spec/f:template",
  "f:spec/f:strategy",
  "f:spec/f:updateStrategy",
  "f:spec/f:template/f:metadata",
  "f:spec/f:template/f:spec",
  "f:spec/f:template/f:spec/f:containers",
  "f:status/f:nodeInfo",
  "f:status/f:daemonEndpoints",
  "f:status/f:daemonEndpoints/f:kubeletEndpoint",
  "f:status/f:loadBalancer",
  "f:spec/f:names",
  "f:status/f:acceptedNames",
]);
const defaultContainersOfCustom: ReadonlySet<string> = new Set(["f:metadata"]);

/** The same tree with every container as a member, as far as such a container can be owned. */
export function withContainers(tree: FieldTree, origin: "built-in" | "custom"): FieldTree {
  const without = origin === "custom" ? defaultContainersOfCustom : defaultContainers;
  const mark = (node: FieldTree, path: string): FieldTree => {
    const children = new Map<string, FieldTree>();
    for (const [key, child] of node.children) children.set(key, mark(child, path === "" ? key : `${path}/${key}`));
    const isOwnable = path !== "" && !without.has(path);
    return { ...node, isMember: isOwnable, children };
  };
  return mark(tree, "");
}

/** The fields of `after` that are new or changed since `before`. */
export function changedFields(before: FieldTree | undefined, after: FieldTree): FieldSet {
  if (before === undefined) return after;
  const children = new Map<string, FieldSet>();
  for (const [key, child] of after.children) {
    const changed = changedFields(before.children.get(key), child);
    if (!isEmptySet(changed)) children.set(key, changed);
  }
  // A container that was null is filled, not created.
  const wasThere = before.value === null && after.value === undefined;
  const isChanged = after.isMember && !wasThere && (!before.isMember || !jsonEqual(before.value, after.value));
  return isChanged || children.size > 0 ? { isMember: isChanged, children } : emptySet;
}
