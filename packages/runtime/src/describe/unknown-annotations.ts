import { annotationKeys } from "@millwright/core";

const prefix = "machine.millwright.dev/";
const known: ReadonlySet<string> = new Set(Object.values(annotationKeys));

/** Maximum number of keys reported of one object. */
const MOST_KEYS = 5;

/**
 * Unknown annotations with our prefix, a sentence each. Controllers ignore them, because another version may know them; but a misspelt name has no
 * effect, and its author relies on it.
 */
export function unknownAnnotations(
  kind: string,
  { name, annotations = {} }: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> },
): readonly string[] {
  const keys = Object.keys(annotations).filter((key) => key.startsWith(prefix) && !known.has(key));
  return keys
    .toSorted()
    .slice(0, MOST_KEYS)
    .map((key) => `${kind} "${name}" has annotation ${key}, which is unknown and has no effect; check its spelling`);
}
