import { equalJson } from "../json/json-merge-patch.ts";

/** Keeps frozen JSON values small by giving equal parts of them one place in memory. */
export interface ValuePool {
  /**
   * Freezes a JSON value and all that is in it, and lets equal parts share their memory with those of other values: the labels,
   * tolerations, images and conditions of ten thousand objects are few. Frozen values can be shared safely.
   * What is frozen already is left as it is.
   */
  freezeShared<T>(value: T): T;
  /**
   * The same for a value that replaces another one: what did not change is taken over from the former value, which costs less
   * than to look for it, and leaves the garbage collector young values only.
   */
  freezeChanged<T>(value: T, former: T): T;
}

/** The engine shares shorter strings by itself (V8 does up to 10 characters); longer ones are hardly ever equal. */
const shortestText = 11;
const longestText = 256;
/** Larger parts are hardly ever equal as a whole. */
const longestPart = 2_048;

/** How many values of the last while are remembered, twice over. Bounds what the pool holds. */
const capacity = 4_096;

/** Named so in every object and different in each: pooling them would only push out the others. */
const neverEqual: ReadonlySet<string> = new Set(["uid", "resourceVersion", "name"]);

/** An object itself and its metadata, spec and status are never equal to others; what is in them often is. */
const depthOfParts = 2;

/** Makes an empty pool. */
export function createValuePool(): ValuePool {
  // Invariants: every text is its own key, every part is frozen and has the hash of its JSON as its key. The JSON itself is not the key:
  // that of parts without an equal would be as much garbage as the objects are large.
  const texts = createRecent<string, string>();
  const parts = createRecent<number, JsonParts>();

  function shareText(text: string): string {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, text);
    return text;
  }

  /** The part itself, frozen, or one that is equal. */
  function sharePart(part: JsonParts, depth: number): JsonParts {
    if (Object.isFrozen(part)) return part;
    if (depth < depthOfParts) return freeze(part, depth);
    const json = JSON.stringify(part);
    if (json.length > longestPart) return freeze(part, depth);
    const hash = hashOf(json);
    const known = parts.get(hash);
    if (known !== undefined && equalJson(known, part)) return known;
    freeze(part, depth);
    parts.set(hash, part);
    return part;
  }

  function freeze(value: JsonParts, depth: number): JsonParts {
    for (const key of Object.keys(value)) {
      const part = value[key];
      if (typeof part === "string") {
        // Replacing a string by an equal one has no visible effect.
        if (part.length >= shortestText && part.length <= longestText && !neverEqual.has(key)) {
          value[key] = shareText(part);
        }
      } else if (hasParts(part)) {
        const shared = sharePart(part, depth + 1);
        if (shared !== part) value[key] = shared;
      }
    }
    return Object.freeze(value);
  }

  function takeOver(value: JsonParts, former: JsonParts, depth: number): JsonParts {
    if (Object.isFrozen(value)) return value;
    for (const key of Object.keys(value)) {
      const part = value[key];
      const old = former[key];
      if (!hasParts(part)) {
        if (typeof part === "string" && part === old) value[key] = old;
      } else if (hasParts(old) && Array.isArray(part) === Array.isArray(old)) {
        if (!Object.isFrozen(part) && equalJson(part, old)) value[key] = old;
        else takeOver(part, old, depth + 1);
      } else freeze(part, depth + 1);
    }
    return Object.freeze(value);
  }

  return {
    freezeShared(value) {
      if (hasParts(value) && !Object.isFrozen(value)) freeze(value, 0);
      return value;
    },
    freezeChanged(value, former) {
      if (hasParts(value) && hasParts(former)) takeOver(value, former, 0);
      return value;
    },
  };
}

/** Remembers the last values, and longer those that are asked for again and again. */
interface Recent<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

function createRecent<K, V>(): Recent<K, V> {
  // Invariants: at most `capacity` entries in each; what was asked for since `older` was new is in `newer`.
  let newer = new Map<K, V>();
  let older = new Map<K, V>();

  function set(key: K, value: V): void {
    if (newer.size >= capacity) {
      older = newer;
      newer = new Map();
    }
    newer.set(key, value);
  }

  return {
    get(key) {
      const found = newer.get(key);
      if (found !== undefined) return found;
      const before = older.get(key);
      if (before !== undefined) set(key, before);
      return before;
    },
    set,
  };
}

/** FNV-1a of the code units: 31 bits, so that the engine keeps it without a box. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash & 0x3fffffff;
}

/** An object or a list of JSON. */
type JsonParts = Record<string, unknown>;

function hasParts(value: unknown): value is JsonParts {
  return typeof value === "object" && value !== null;
}
