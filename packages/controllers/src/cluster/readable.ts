import type { FieldProblem, ReadResult } from "@millwright/core";
import { type ApiObject, trimObject } from "@millwright/kube";

/** Problems of objects with an invalid shape, by the placeholder in the cache. */
const problemsByObject = new WeakMap<object, readonly FieldProblem[]>();

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
    const { apiVersion, kind, metadata, status } = trimmed;
    const known = read({ apiVersion, kind, ...empty(metadata), ...(status === undefined ? {} : { status }) });
    const placeholder = known.ok ? known.value : empty(metadata);
    problemsByObject.set(placeholder, result.problems);
    return placeholder;
  };

/** Why a cached object could not be read; empty for one that could. */
export const shapeProblemsOf = (object: object): readonly FieldProblem[] => problemsByObject.get(object) ?? [];

/** The problems of a cached object: those of its shape, or else those that `validate` finds. */
export const problemsOf = <T extends object>(
  object: T,
  validate: (object: T) => readonly FieldProblem[],
): readonly FieldProblem[] => {
  const shape = shapeProblemsOf(object);
  return shape.length > 0 ? shape : validate(object);
};
