/** Gives equal strings one place in memory. */
export interface StringPool {
  /**
   * Freezes a JSON value and all that is in it, and lets equal strings in it share their memory with those of other values:
   * the label values, images and node names of ten thousand objects are few. What is frozen already is left as it is.
   */
  freezeShared<T>(value: T): T;
}

/** The engine shares shorter ones by itself (V8 does up to 10 characters); longer ones are hardly ever equal. */
const shortest = 11;
const longest = 256;

/** Strings of the last while. Beyond it the pool starts anew, which costs some sharing and bounds what it holds. */
const capacity = 8_192;

/** Named so in every object and different in each: pooling them would only push out the others. */
const neverEqual: ReadonlySet<string> = new Set(["uid", "resourceVersion"]);

/** Makes an empty pool. */
export function createStringPool(): StringPool {
  // Invariant: every value is its own key; at most `capacity` of them.
  const pool = new Map<string, string>();

  function share(text: string): string {
    const known = pool.get(text);
    if (known !== undefined) return known;
    if (pool.size >= capacity) pool.clear();
    pool.set(text, text);
    return text;
  }

  function freeze(value: JsonParts): void {
    if (Object.isFrozen(value)) return;
    for (const key of Object.keys(value)) {
      const part = value[key];
      if (typeof part === "string") {
        // An equal string in place of another one is a change that nobody can see.
        if (part.length >= shortest && part.length <= longest && !neverEqual.has(key)) value[key] = share(part);
      } else if (hasParts(part)) freeze(part);
    }
    Object.freeze(value);
  }

  return {
    freezeShared(value) {
      if (hasParts(value)) freeze(value);
      return value;
    },
  };
}

/** An object or a list of JSON. */
type JsonParts = Record<string, unknown>;

function hasParts(value: unknown): value is JsonParts {
  return typeof value === "object" && value !== null;
}
