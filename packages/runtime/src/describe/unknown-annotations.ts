import { annotationKeys } from "@millwright/core";

const prefix = "machine.millwright.dev/";
const known: ReadonlySet<string> = new Set(Object.values(annotationKeys));

/** Maximum number of keys reported of one object. */
const MOST_KEYS = 5;

/**
 * Annotations that look like ours and are not, a sentence each. Controllers pass over them, for another version may know them; but a misspelt name holds no
 * rollout back, and whoever wrote it believes that it does.
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
