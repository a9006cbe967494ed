import { isRecord } from "@millwright/base";
import type { FieldProblem, ObjectMeta, ReadResult } from "@millwright/core/machine-api";
import { type ApiObject, trimObject } from "@millwright/kube";

/** Problems of objects with an invalid shape. No cache: written once, when the placeholder is made that is frozen in the store, and dropped with it. */
const problemsByPlaceholder = new WeakMap<object, readonly FieldProblem[]>();

/**
 * Turns a reader into a cache transform. An object that cannot be read is kept with an empty spec, so that its controller
 * still sees it, reports the problems, and allows its deletion; no field of its spec is used. Its status is kept if it is readable: without
 * it each reconcile would report everything again.
 */
export const readInto =
  <T extends ApiObject>(read: (raw: unknown) => ReadResult<T>, empty: (metadata: T["metadata"]) => T) =>
  (raw: T & { readonly status?: unknown }): T => {
    const trimmed = trimObject(raw);
    const result = read(trimmed);
    if (result.ok) return result.value;
    const { apiVersion, kind, status } = trimmed;
    const metadata = readableMetadata(trimmed.metadata);
    const known = read({ apiVersion, kind, ...empty(metadata), ...(status === undefined ? {} : { status }) });
    const placeholder = known.ok ? known.value : empty(metadata);
    problemsByPlaceholder.set(placeholder, result.problems);
    return placeholder;
  };

const isText = (value: unknown): value is string => typeof value === "string";

/** Fields of metadata that controllers use, and what they must be: an API server guarantees it, a proxy or another server may not. */
const metadataShapes: Readonly<Record<keyof ObjectMeta, (value: unknown) => boolean>> = {
  name: isText,
  generateName: isText,
  namespace: isText,
  uid: isText,
  resourceVersion: isText,
  generation: (value) => typeof value === "number",
  creationTimestamp: isText,
  deletionTimestamp: isText,
  deletionGracePeriodSeconds: (value) => typeof value === "number",
  labels: (value) => isRecord(value) && Object.values(value).every(isText),
  annotations: (value) => isRecord(value) && Object.values(value).every(isText),
  finalizers: (value) => Array.isArray(value) && value.every(isText),
  ownerReferences: (value) => Array.isArray(value) && value.every((each) => isRecord(each) && isText(each["uid"])),
};

/** The metadata without the fields that are not what they must be, however deeply they are nested. */
function readableMetadata<Metadata extends object>(metadata: Metadata): Metadata {
  const shapes: Readonly<Record<string, ((value: unknown) => boolean) | undefined>> = metadataShapes;
  const entries = Object.entries(metadata);
  const good = entries.filter(([key, value]) => Object.hasOwn(shapes, key) && shapes[key]?.(value) === true);
  // What is left has the types that the fields have.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return good.length === entries.length ? metadata : (Object.fromEntries(good) as Metadata);
}

/** Why a cached object could not be read; empty for one that could. */
export const shapeProblemsOf = (object: object): readonly FieldProblem[] => problemsByPlaceholder.get(object) ?? [];

/** The problems of a cached object: those of its shape, or else those that `validate` finds. */
export const problemsOf = <T extends object>(
  object: T,
  validate: (object: T) => readonly FieldProblem[],
): readonly FieldProblem[] => {
  const shape = shapeProblemsOf(object);
  return shape.length > 0 ? shape : validate(object);
};
