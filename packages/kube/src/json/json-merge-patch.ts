import { isRecord } from "@millwright/base";

/** Whether two JSON values are equal. A property that is undefined counts as absent, because JSON drops it. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = definedKeys(a);
  return (
    keys.length === definedKeys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  );
}

/**
 * The smallest JSON merge patch (RFC 7386) that turns `from` into `to`; undefined when they are equal, so that nothing need
 * be written. Lists are replaced as a whole. A merge patch cannot set null: null in `to` removes the field.
 *
 * @example
 * const patch = createMergePatch({ status: machine.status }, { status: wanted });
 * if (patch !== undefined) await api.patch(machineResource, ref, patch, { kind: "merge", subresource: "status" });
 */
export function createMergePatch(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  const changes: [string, unknown][] = [];
  for (const key of new Set([...definedKeys(from), ...definedKeys(to)])) {
    const before = ownValue(from, key);
    const after = ownValue(to, key);
    if (equalJson(before, after)) continue;
    if (after === undefined || after === null) {
      if (before !== undefined && before !== null) changes.push([key, null]);
    } else if (isRecord(before) && isRecord(after)) {
      const inner = createMergePatch(before, after);
      if (inner !== undefined) changes.push([key, inner]);
    } else {
      changes.push([key, after]);
    }
  }
  // fromEntries defines properties; an assignment with the key "__proto__" would change the prototype.
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** Applies a JSON merge patch (RFC 7386) and leaves the target as it is. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result = new Map<string, unknown>(isRecord(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else if (value !== undefined) result.set(key, applyMergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/** The keys of what JSON keeps. */
export function definedKeys(value: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

/** The value of a key of the record itself. */
export function ownValue(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
