import type { ApiObject, ObjectMeta } from "./kube-object.ts";

/** A merge patch of `metadata.finalizers`, for the version that it was computed from. */
export interface FinalizerPatch {
  readonly metadata: { readonly finalizers: readonly string[]; readonly resourceVersion?: string };
}

/** What a finalizer patch is computed from. */
export interface Finalized {
  readonly metadata: Pick<ObjectMeta, "finalizers" | "resourceVersion">;
}

/** Whether an object has this finalizer. */
export function hasFinalizer(object: Finalized, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) === true;
}

/** Whether an object is terminating, held by finalizers or a grace period. */
export function isBeingDeleted(object: ApiObject): boolean {
  return object.metadata.deletionTimestamp !== undefined && object.metadata.deletionTimestamp !== null;
}

/**
 * The merge patch by which an object gets a finalizer; undefined when it has it. A merge patch replaces lists whole, so it holds only for the
 * version that it was computed from: a finalizer that another client adds meanwhile is never lost, the patch fails with a conflict instead. An API
 * server rejects new finalizers on an object that is being deleted.
 */
export function addFinalizerPatch(object: Finalized, finalizer: string): FinalizerPatch | undefined {
  if (hasFinalizer(object, finalizer)) return undefined;
  return replaceFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer]);
}

/** The merge patch by which an object loses a finalizer; undefined when it does not have it. See {@link addFinalizerPatch}. */
export function removeFinalizerPatch(object: Finalized, finalizer: string): FinalizerPatch | undefined {
  if (!hasFinalizer(object, finalizer)) return undefined;
  return replaceFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((entry) => entry !== finalizer),
  );
}

function replaceFinalizers({ metadata }: Finalized, finalizers: readonly string[]): FinalizerPatch {
  const { resourceVersion } = metadata;
  return { metadata: { finalizers, ...(resourceVersion === undefined ? {} : { resourceVersion }) } };
}
