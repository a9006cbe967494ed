import { deepFreeze, field, isArray, isObject, type Json, type JsonObject } from "../json/json.ts";
import { createRecentPool } from "./recent-pool.ts";

/** How many parts and strings are remembered at least, and the longest of them: what repeats itself comes again soon. */
const partLimit = 1_024;
const partLengthLimit = 16_384;
const stringLimit = 8_192;
const stringLengthLimit = 256;

/**
 * Makes equal parts of different objects the same in memory: the fields of spec and status, the entries of managers and the fields
 * that they own, and all short strings. Those of a thousand nodes or machines are much alike, and take more room than all that is
 * their own. What comes back is frozen to its leaves; parts that are frozen already come out of the store and stay as they are.
 */
export function createSharing(): (object: JsonObject) => Json {
  const parts = createRecentPool<Json>(partLimit);
  const strings = createRecentPool<string>(stringLimit);

  const shareString = (text: string): string =>
    text.length > stringLengthLimit ? text : strings.get(text, () => text);
  /** A frozen copy whose strings are shared. */
  const settled = (value: Json, settle: (item: Json, key: string) => Json): Json => {
    if (typeof value === "string") return shareString(value);
    if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
    if (isArray(value)) return Object.freeze(value.map((item) => settle(item, "")));
    // No request can bring that key, but a file can; an assignment to it would set the prototype of the copy.
    if (Object.hasOwn(value, "__proto__")) return deepFreeze(value);
    // A copy by spreading keeps the compact layout that JSON.parse gives an object.
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
  /** Two managers that wrote in the same second have the same entry; most others own the same fields. */
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
