import { annotationKeys, type MachineClass } from "@millwright/core/machine-api";

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

/** Whether VMs can be created from a class now, as the controllers recorded it. */
export interface ClassStatus {
  /** `Ready`, or why not. */
  readonly reason: string;
  /** As the API writes times. */
  readonly since: string;
  /** Empty while it is `Ready`. */
  readonly message: string;
}

/** The status of a class; `undefined` before the controllers have recorded it. */
export function classStatusOf({ metadata: { annotations = {} } }: MachineClass): ClassStatus | undefined {
  const { classStatus, classStatusSince, classStatusMessage } = annotationKeys;
  const reason = annotations[classStatus];
  if (reason === undefined) return undefined;
  return { reason, since: annotations[classStatusSince] ?? "", message: annotations[classStatusMessage] ?? "" };
}

/** Keys of `providerSpec` that the drivers of classes ignore, as the controllers recorded it: a sentence for each class. */
export const unknownKeyNotes = (classes: readonly MachineClass[]): readonly string[] =>
  classes.flatMap(({ metadata: { name, annotations } }) => {
    const keys = annotations?.[annotationKeys.unknownKeys];
    return keys === undefined ? [] : [`MachineClass "${name}": its driver ignores keys that it does not know: ${keys}`];
  });
