import { entriesOf, field, isObject, type Json, objectFrom } from "../json/json.ts";

/** Applies an RFC 7396 merge patch: null removes, objects merge, everything else replaces. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = new Map<string, Json>(entriesOf(target));
  for (const [key, value] of entriesOf(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, applyMergePatch(field(target, key), value));
  }
  return objectFrom(result);
}
