import { annotationKeys, type MachineKind, machineKinds } from "@millwright/core";
import { type ApiObject, describeType } from "@millwright/kube";

/** How the CustomResourceDefinition of one of our kinds stands. Times are wall clock, milliseconds. */
export type CrdState = { readonly name: string } & (
  | {
      readonly state: "standing";
      readonly createdAt: number;
      /** Whether somebody wrote on it that what its deletion takes away may go. */
      readonly isMeant: boolean;
    }
  /** It is being deleted, and the API server deletes all objects of its kind. */
  | { readonly state: "going"; readonly createdAt: number; readonly deletedAt: number; readonly isMeant: boolean }
  /** It was there before, and is not any more. */
  | { readonly state: "gone" }
  /** Nothing is known of it: it may not be read, or the kind is served without one. What happens then is what MCM does. */
  | { readonly state: "unguarded" }
);

/** The name of a kind's definition: `machines.machine.sapcloud.io`. */
export const definitionName = (kind: MachineKind): string => describeType(machineKinds[kind]);

/** What a definition that is there says of itself. */
export function stateOfDefinition({ metadata }: ApiObject, name: string): CrdState {
  const isMeant = metadata.annotations?.[annotationKeys.allowCrdDeletion] === "true";
  const createdAt = Date.parse(metadata.creationTimestamp ?? "") || 0;
  const deletedAt = Date.parse(metadata.deletionTimestamp ?? "");
  return Number.isNaN(deletedAt)
    ? { name, state: "standing", createdAt, isMeant }
    : { name, state: "going", createdAt, deletedAt, isMeant };
}

/** Whether objects of the kind are lost, or about to be, without anybody having said that they may be. */
export const isTerminatingOrDeleted = (definition: CrdState): boolean =>
  definition.state === "gone" || (definition.state === "going" && !definition.isMeant);
