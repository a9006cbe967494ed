import { annotationKeys } from "@millwright/core";

const prefix = "machine.millwright.dev/";
const known: ReadonlySet<string> = new Set(Object.values(annotationKeys));

/** Why an annotation of anything but a Machine has no effect; `undefined` for one that has. */
function reasonOf(key: string): string | undefined {
  if (!key.startsWith(prefix)) return undefined;
  if (!known.has(key)) return "is unknown and has no effect; check its spelling";
  return key === annotationKeys.startupTaints
    ? "has no effect there; write it into spec.template.metadata.annotations"
    : undefined;
}

/** Maximum number of keys reported of one object. */
const MOST_KEYS = 5;

/**
 * Annotations with our prefix that have no effect, a sentence each: unknown ones, and those of the template. Controllers ignore them, because another version may know them; but
 * their author relies on them.
 */
export function unknownAnnotations(
  kind: string,
  { name, annotations = {} }: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> },
): readonly string[] {
  return Object.keys(annotations)
    .toSorted()
    .flatMap((key) => {
      const reason = reasonOf(key);
      return reason === undefined ? [] : [`${kind} "${name}" has annotation ${key}, which ${reason}`];
    })
    .slice(0, MOST_KEYS);
}
