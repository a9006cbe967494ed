import type { ObjectMeta } from "@millwright/core";

/** What a finalizer patch is computed from. */
export interface Finalized {
  readonly metadata: Pick<ObjectMeta, "finalizers" | "resourceVersion">;
}

/** A merge patch of `metadata.finalizers`, for the version that it was computed from. */
export interface FinalizerPatch {
  readonly metadata: { readonly finalizers: readonly string[]; readonly resourceVersion?: string };
}

/**
 * Merge patch of the list of finalizers. A merge patch replaces lists whole, so it applies only to the version that it was computed from: a
 * finalizer that another client adds meanwhile is never lost.
 */
const replaceFinalizers = ({ metadata }: Finalized, list: readonly string[]): FinalizerPatch => ({
  metadata: {
    finalizers: list,
    ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
  },
});

export const addFinalizerPatch = (object: Finalized, finalizer: string): FinalizerPatch =>
  replaceFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer]);

/** Strategic merge patch of the metadata of a built-in kind, for any version of this object: the finalizers of others stay. */
export const dropFinalizerPatch = ({ uid }: Pick<ObjectMeta, "uid">, finalizer: string): object => ({
  ...(uid === undefined ? {} : { uid }),
  "$deleteFromPrimitiveList/finalizers": [finalizer],
});

export const removeFinalizerPatch = (object: Finalized, finalizer: string): FinalizerPatch =>
  replaceFinalizers(
    object,
    (object.metadata.finalizers ?? []).filter((entry) => entry !== finalizer),
  );
