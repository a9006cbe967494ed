import type { ApiObject } from "../objects/kube-object.ts";

/** Written by `kubectl apply`: a whole copy of the object that no controller reads. */
const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * What a store keeps of an object by default: all but `metadata.managedFields` and the last-applied annotation, which are
 * most of the bytes of a Node. Made by rest-copy: `delete` would leave the object in the engine's slow form and save
 * nothing (measured on a Node: 11.4 KiB against 3.0).
 */
export function trimObject<T extends ApiObject>(object: T): T {
  const { managedFields, annotations, ...metadata } = object.metadata as T["metadata"] & {
    readonly managedFields?: unknown;
  };
  if (managedFields === undefined && annotations?.[lastAppliedAnnotation] === undefined) return object;
  if (annotations === undefined) return { ...object, metadata };
  const { [lastAppliedAnnotation]: _, ...rest } = annotations;
  return { ...object, metadata: { ...metadata, annotations: rest } };
}

/** Freezes a JSON value and all that is in it. What is frozen already is taken to be so all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
