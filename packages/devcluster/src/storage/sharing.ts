import { deepFreeze, field, isArray, isObject, type Json, type JsonObject } from "../json/json.ts";
import { createRecentPool } from "./recent-pool.ts";

/** The least number of parts and strings that are kept, and the maximum length of a string. Repetitions come soon. */
const partLimit = 1_024;
const partLengthLimit = 16_384;
const stringLimit = 8_192;
const stringLengthLimit = 256;

/**
 * Shares equal parts of different objects in memory: the fields of spec and status, the managedFields entries and the fields in
 * them, and all short strings. Those of a thousand nodes or machines are much alike, and larger than the rest. The result is
 * deeply frozen; parts that are frozen already come from the store and stay as they are.
 */
export function createSharing(): (object: JsonObject) => Json {
  const parts = createRecentPool<Json>(partLimit);
  const strings = createRecentPool<string>(stringLimit);

  const shareString = (text: string): string =>
    text.length > stringLengthLimit ? text : strings.get(text, () => text);
  /** A frozen copy with shared strings. */
  const settled = (value: Json, settle: (item: Json, key: string) => Json): Json => {
    if (typeof value === "string") return shareString(value);
    if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
    if (isArray(value)) return Object.freeze(value.map((item) => settle(item, "")));
    // Requests cannot contain this key, but a file can. Assigning it would set the prototype of the copy.
    if (Object.hasOwn(value, "__proto__")) return deepFreeze(value);
    // A copy by spread keeps the compact layout of JSON.parse.
    const copy: Record<string, Json | undefined> = { ...value };
    for (const key in copy) {
      const item = copy[key];
      if (item !== undefined) copy[key] = settle(item, key);
    }
    return Object.freeze(copy);
  };
  const settle = (value: Json): Json => settled(value, settle);
  const sharePart = (value: Json): Json => {
    if (typeof value !== "object" || value === null || Object.isFrozen(value)) return settle(value);
    const text = JSON.stringify(value);
    return text.length > partLengthLimit ? settle(value) : parts.get(text, () => settle(value));
  };
  /** Managers that wrote in the same second have equal entries; most others own the same fields. */
  const shareManager = (entry: Json): Json => {
    const fields = field(entry, "fieldsV1");
    if (!isObject(entry) || fields === undefined || Object.isFrozen(entry)) return sharePart(entry);
    return sharePart({ ...entry, fieldsV1: sharePart(fields) });
  };
  const settleMetadata = (value: Json, key: string): Json =>
    key === "managedFields" && isArray(value) ? Object.freeze(value.map(shareManager)) : settle(value);
  const settleField = (value: Json, key: string): Json => {
    if (key === "metadata") return settled(value, settleMetadata);
    return key === "spec" || key === "status" ? settled(value, sharePart) : settle(value);
  };

  return (object) => settled(object, settleField);
}
