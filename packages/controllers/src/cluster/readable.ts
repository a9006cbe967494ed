import type { FieldProblem, ReadResult } from "@millwright/core";
import { type ApiObject, trimObject } from "@millwright/kube";

/** Problems of objects whose shape could not be read, by the object that stands for them in a cache. */
const problemsByObject = new WeakMap<object, readonly FieldProblem[]>();

/**
 * Turns a reader into what a cache keeps of each object. An object that cannot be read is kept as nothing but its metadata, so that its controller
 * still sees it, says what is wrong, and lets it be deleted; nothing of its content is trusted.
 */
export const readInto =
  <T extends ApiObject>(read: (raw: unknown) => ReadResult<T>, empty: (metadata: T["metadata"]) => T) =>
  (raw: T): T => {
    const result = read(trimObject(raw));
    if (result.ok) return result.value;
    const placeholder = empty(trimObject(raw).metadata);
    problemsByObject.set(placeholder, result.problems);
    return placeholder;
  };

/** Why a cached object could not be read; empty for one that could. */
export const shapeProblemsOf = (object: object): readonly FieldProblem[] => problemsByObject.get(object) ?? [];
