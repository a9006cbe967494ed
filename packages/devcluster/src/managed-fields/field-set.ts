import { entriesOf, type Json, type JsonObject, objectFrom } from "../json/json.ts";

/**
 * A set of fields of an object as a tree of path elements, in the notation of `FieldsV1`: `f:name` for a field,
 * `k:{"type":"Ready"}` for an item of a map list, `v:"x"` for an item of a set. A node that is a member belongs to the set
 * itself; others only lead to members.
 */
export interface FieldSet {
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

/** The set without members. */
export const emptySet: FieldSet = { isMember: false, children: new Map() };

/** Whether a set has no members. */
export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && [...set.children.values()].every(isEmptySet);
}

/** The fields that are in one of two sets. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === emptySet) return b;
  if (b === emptySet) return a;
  const children = new Map(a.children);
  for (const [key, child] of b.children) {
    const other = children.get(key);
    children.set(key, other === undefined ? child : union(other, child));
  }
  return { isMember: a.isMember || b.isMember, children };
}

/** The fields of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [key, child] of a.children) {
    const other = b.children.get(key);
    const left = other === undefined ? child : difference(child, other);
    if (!isEmptySet(left)) children.set(key, left);
  }
  return { isMember: a.isMember && !b.isMember, children };
}

/** The fields that are in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [key, child] of a.children) {
    const other = b.children.get(key);
    if (other === undefined) continue;
    const common = intersection(child, other);
    if (!isEmptySet(common)) children.set(key, common);
  }
  return { isMember: a.isMember && b.isMember, children };
}

/** Whether two sets have the same members. */
export function sameSet(a: FieldSet, b: FieldSet): boolean {
  return isEmptySet(difference(a, b)) && isEmptySet(difference(b, a));
}

/** The members of a set, each as its path elements from the root. */
export function membersOf(set: FieldSet, path: readonly string[] = []): readonly (readonly string[])[] {
  const below = [...set.children].flatMap(([key, child]) => membersOf(child, [...path, key]));
  return set.isMember ? [path, ...below] : below;
}

/** Writes a set as `fieldsV1`. */
export function encodeFieldSet(set: FieldSet): JsonObject {
  const entries = [...set.children]
    .filter(([, child]) => !isEmptySet(child))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, child]): [string, Json] => {
      const inner = encodeFieldSet(child);
      return [key, child.isMember && Object.keys(inner).length > 0 ? { ".": {}, ...inner } : inner];
    });
  return objectFrom(entries);
}

/** Reads `fieldsV1`. Keeps elements of an unknown form, which another server may have written. */
export function decodeFieldSet(fields: Json | undefined): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [key, value] of entriesOf(fields)) {
    if (key === ".") continue;
    const inner = decodeFieldSet(value);
    const entries = entriesOf(value);
    const isMember = entries.length === 0 || entries.some(([name]) => name === ".");
    children.set(key, { isMember, children: inner.children });
  }
  return { isMember: false, children };
}
