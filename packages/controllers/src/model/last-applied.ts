import { isRecord } from "@millwright/base";
import { annotationKeys, type NodeTemplateSpec, readNodeTemplateSpec, type Taint } from "@millwright/core/machine-api";
import { parseJson } from "@millwright/kube";

type Texts = Readonly<Record<string, string>>;

/** The applied part of a node template. */
export interface AppliedTemplate {
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly taints: readonly Taint[];
}

/** The value of a last-applied annotation. An unreadable annotation counts as empty: nothing is removed. */
export interface LastApplied<T> {
  readonly value: T;
  readonly isUnreadable: boolean;
}

/** Annotations that the controllers write themselves; a template that sets them would overwrite the last-applied state. */
const ownAnnotations: ReadonlySet<string> = new Set([
  annotationKeys.lastAppliedNodeTemplate,
  annotationKeys.lastAppliedVirtualCapacity,
]);

const without = (texts: Texts, keys: ReadonlySet<string>): Texts =>
  Object.fromEntries(Object.entries(texts).filter(([key]) => !keys.has(key)));

/** The part of a template that is applied. */
export const appliedPart = (template: NodeTemplateSpec | undefined): AppliedTemplate => ({
  labels: template?.metadata?.labels ?? {},
  annotations: without(template?.metadata?.annotations ?? {}, ownAnnotations),
  taints: template?.spec?.taints ?? [],
});

/** Parses JSON from an annotation; `undefined` when it is invalid. */
function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Reads the annotation as MCM or Millwright wrote it; in any order of fields, with or without `creationTimestamp: null`. */
export function readLastTemplate(annotations: Texts | undefined): LastApplied<AppliedTemplate> {
  const text = annotations?.[annotationKeys.lastAppliedNodeTemplate];
  if (text === undefined) return { value: appliedPart(undefined), isUnreadable: false };
  const template = readNodeTemplateSpec(parsed(text));
  return { value: appliedPart(template), isUnreadable: template === undefined };
}

/** Go's JSON sorts the keys of maps, and omits empty ones. */
const sorted = (texts: Texts): Texts | undefined => {
  const entries = Object.entries(texts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

/** The annotation for a template, in the shape and order of Go's JSON for a NodeTemplateSpec. */
export function writeTemplate({ labels, annotations, taints }: AppliedTemplate): string {
  return JSON.stringify({
    metadata: { creationTimestamp: null, labels: sorted(labels), annotations: sorted(annotations) },
    spec: {
      taints:
        taints.length === 0
          ? undefined
          : taints.map(({ key, value, effect }) => ({ key, value: value === "" ? undefined : value, effect })),
    },
  });
}

/** Reads the virtual capacity that was applied last, amounts as text. */
export function readLastCapacity(annotations: Texts | undefined): LastApplied<Texts> {
  const text = annotations?.[annotationKeys.lastAppliedVirtualCapacity];
  if (text === undefined) return { value: {}, isUnreadable: false };
  const value = parsed(text);
  const entries = isRecord(value) ? Object.entries(value) : undefined;
  const isAmount = (entry: [string, unknown]): boolean => typeof entry[1] === "string" || typeof entry[1] === "number";
  if (entries === undefined || !entries.every(isAmount)) return { value: {}, isUnreadable: true };
  return { value: Object.fromEntries(entries.map(([name, amount]) => [name, String(amount)])), isUnreadable: false };
}

/** The annotation for a virtual capacity; null removes it. */
export const writeCapacity = (capacity: Texts): string | null => {
  const entries = sorted(capacity);
  return entries === undefined ? null : JSON.stringify(entries);
};
