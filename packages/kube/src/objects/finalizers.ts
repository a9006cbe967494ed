import type { ApiObject, ObjectMeta } from "./kube-object.ts";

/** What a finalizer patch is computed from. */
export interface Finalized {
  readonly metadata: Pick<ObjectMeta, "finalizers" | "resourceVersion">;
}

/** A merge patch of `metadata.finalizers`, for the version that it was computed from. */
export interface FinalizerPatch {
  readonly metadata: { readonly finalizers: readonly string[]; readonly resourceVersion?: string };
}

/** Whether an object has this finalizer. */
export const hasFinalizer = ({ metadata }: ApiObject, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) === true;

/** Whether an object is terminating, held by finalizers or a grace period. */
export const isBeingDeleted = ({ metadata }: ApiObject): boolean => metadata.deletionTimestamp != null;

/**
 * Merge patch of the list of finalizers. A merge patch replaces lists whole, so it applies only to the version that it was computed from: a
 * finalizer that another client adds meanwhile is never lost, the patch fails with a conflict instead. An API server rejects new finalizers on
 * an object that is being deleted.
 */
const replaceFinalizers = ({ metadata }: Finalized, list: readonly string[]): FinalizerPatch => ({
  metadata: {
    finalizers: list,
    ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
  },
});

/** The merge patch by which an object gets a finalizer that it does not have. */
export const addFinalizerPatch = (object: Finalized, finalizer: string): FinalizerPatch =>
  replaceFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer]);

/** The merge patch by which an object loses a finalizer. */
export const removeFinalizerPatch = (object: Finalized, finalizer: string): FinalizerPatch =>
  replaceFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((entry) => entry !== finalizer),
  );

/** Strategic merge patch of the metadata of a built-in kind, for any version of this object: the finalizers of others stay. */
export const dropFinalizerPatch = ({ uid }: Pick<ObjectMeta, "uid">, finalizer: string): object => ({
  ...(uid === undefined ? {} : { uid }),
  "$deleteFromPrimitiveList/finalizers": [finalizer],
});
