import { annotationKeys, type MachineKind, machineKinds } from "@millwright/core/machine-api";
import { type ApiObject, describeType } from "@millwright/kube";

/** The state of the CustomResourceDefinition of one of our kinds. Times are wall clock, milliseconds. */
export type CrdState = { readonly name: string } & (
  | {
      readonly state: "established";
      readonly createdAt: number;
      /** Whether its annotation allows that the objects of the kind are deleted with it. */
      readonly isDeletionAllowed: boolean;
    }
  /** It is being deleted, and the API server deletes all objects of its kind. */
  | {
      readonly state: "terminating";
      readonly createdAt: number;
      readonly deletedAt: number;
      readonly isDeletionAllowed: boolean;
    }
  /** It was there before and does not exist any more. */
  | { readonly state: "deleted" }
  /** It cannot be read, or the kind is served without one. Deletions are then carried out as by MCM. */
  | { readonly state: "unknown" }
);

/** The name of a kind's CustomResourceDefinition: `machines.machine.sapcloud.io`. */
export const crdName = (kind: MachineKind): string => describeType(machineKinds[kind]);

/** The state of a CustomResourceDefinition that exists. */
export function crdStateOf({ metadata }: ApiObject, name: string): CrdState {
  const isDeletionAllowed = metadata.annotations?.[annotationKeys.allowCrdDeletion] === "true";
  const createdAt = Date.parse(metadata.creationTimestamp ?? "") || 0;
  const deletedAt = Date.parse(metadata.deletionTimestamp ?? "");
  return Number.isNaN(deletedAt)
    ? { name, state: "established", createdAt, isDeletionAllowed }
    : { name, state: "terminating", createdAt, deletedAt, isDeletionAllowed };
}

/** Whether objects of the kind are lost, or about to be, without an annotation that allows it. */
export const isTerminatingOrDeleted = (crd: CrdState): boolean =>
  crd.state === "deleted" || (crd.state === "terminating" && !crd.isDeletionAllowed);
