import type { StoredObject } from "../api-object.ts";
import { entriesOf, field, isArray, isObject, type Json, type JsonObject, objectFrom } from "../json.ts";

/** The most texts that are remembered, and the longest of them: what repeats itself comes again soon. */
const poolLimit = 4_096;
const textLimit = 16_384;

/**
 * Makes equal parts of different objects the same in memory: the fields of spec and status, and the fields that managers own.
 * Those of a thousand nodes or machines are much alike, and take more room than all that is their own.
 */
export function createSharing(): (object: StoredObject) => StoredObject {
  const pool = new Map<string, Json>();

  const share = (value: Json): Json => {
    if (typeof value !== "object" || value === null) return value;
    const text = JSON.stringify(value);
    if (text.length > textLimit) return value;
    const known = pool.get(text);
    if (known !== undefined) {
      // What is used goes to the end of the map: the beginning is forgotten first.
      pool.delete(text);
      pool.set(text, known);
      return known;
    }
    pool.set(text, value);
    const [oldest] = pool.size > poolLimit ? pool.keys() : [];
    if (oldest !== undefined) pool.delete(oldest);
    return value;
  };
  const shareFields = (value: Json | undefined): Json | undefined =>
    isObject(value) ? objectFrom(entriesOf(value).map(([key, item]) => [key, share(item)])) : value;

  return (object) => {
    const { managedFields } = object.metadata;
    const metadata = {
      ...object.metadata,
      ...(isArray(managedFields)
        ? { managedFields: managedFields.map((entry) => withSharedFields(entry, share)) }
        : {}),
    };
    const parts: Record<string, Json> = {};
    for (const key of ["spec", "status"]) {
      const value = shareFields(object[key]);
      if (value !== undefined) parts[key] = value;
    }
    return { ...object, ...parts, metadata };
  };
}

function withSharedFields(entry: Json, share: (value: Json) => Json): Json {
  const fields = field(entry, "fieldsV1");
  if (!isObject(entry) || fields === undefined) return entry;
  const shared: JsonObject = { ...entry, fieldsV1: share(fields) };
  return shared;
}
