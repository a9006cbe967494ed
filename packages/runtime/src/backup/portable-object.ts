import { isRecord } from "@millwright/base";
import { annotationKeys } from "@millwright/core/machine-api";
import type { KubeObject } from "@millwright/kube";

/** Annotations that are true of one object at one time, and wrong of its copy: approvals, requests to delete, and records with times and UIDs. */
const momentary: ReadonlySet<string> = new Set([
  annotationKeys.approveDeletions,
  annotationKeys.usedApprovals,
  annotationKeys.orphanVms,
  annotationKeys.releasedFrom,
  annotationKeys.adoptedFrom,
  annotationKeys.triggerDeletion,
  annotationKeys.markedForDeletionTime,
  annotationKeys.unfreeze,
  annotationKeys.drainState,
  annotationKeys.interruptionDeadline,
]);

/** The creation of a VM whose id is stored is over: the new object is given that VM. */
const isOver = (key: string, { spec }: Readonly<Record<string, unknown>>): boolean =>
  key === annotationKeys.creationIntent && isRecord(spec) && (spec["providerID"] ?? "") !== "";

/** Finalizers of the garbage collector, for a deletion that is under way. */
const ofDeletion: ReadonlySet<string> = new Set(["foregroundDeletion", "orphan"]);

const kept = <T>(entries: readonly T[]): readonly T[] | undefined => (entries.length === 0 ? undefined : entries);

/** An object in the form in which it can be created again: without status, owners, and what the API server sets. Finalizers stay, so that it is protected from its first moment on. */
export function portableObject({ metadata, ...fields }: KubeObject): KubeObject {
  const rest = Object.entries(fields).filter(([field]) => field !== "status");
  const { name, namespace, labels, annotations = {}, finalizers = [] } = metadata;
  const notes = kept(Object.entries(annotations).filter(([key]) => !momentary.has(key) && !isOver(key, fields)));
  const held = kept(finalizers.filter((finalizer) => !ofDeletion.has(finalizer)));
  return {
    ...Object.fromEntries(rest),
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(notes === undefined ? {} : { annotations: Object.fromEntries(notes) }),
      ...(held === undefined ? {} : { finalizers: held }),
    },
  };
}

/** An object with annotations added. */
export const withAnnotations = <T extends KubeObject>(object: T, annotations: Readonly<Record<string, string>>): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});
