import type { FieldProblem, ReadResult } from "@millwright/core";
import { type ApiObject, trimObject } from "@millwright/kube";

/** Problems of objects whose shape could not be read, by the object that stands for them in a cache. */
const problemsByObject = new WeakMap<object, readonly FieldProblem[]>();

/**
 * Turns a reader into what a cache keeps of each object. An object that cannot be read is kept with an empty spec, so that its controller
 * still sees it, says what is wrong, and lets it be deleted; nothing that was asked of it is trusted. Its status stays where it can be read: without
 * it every pass would find, and say, everything anew.
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

/** What is wrong with a cached object: its shape, or else what `validate` finds in it. What could not be read has nothing to be validated. */
export const problemsOf = <T extends object>(
  object: T,
  validate: (object: T) => readonly FieldProblem[],
): readonly FieldProblem[] => {
  const shape = shapeProblemsOf(object);
  return shape.length > 0 ? shape : validate(object);
};
