import { annotationKeys } from "@millwright/core";
import type { CrdState } from "../model/crd-state.ts";

function describeCrd({ name, state }: CrdState): string {
  switch (state) {
    case "terminating":
      return `CustomResourceDefinition ${name} is being deleted`;
    case "deleted":
      return `CustomResourceDefinition ${name} was deleted`;
    case "established":
    case "unknown":
      return `CustomResourceDefinition ${name} was deleted and recreated`;
  }
}

/** What a person can do about it. */
export const remedy = ({ state }: CrdState): string => {
  const restore =
    "To restore, save the objects, remove their finalizers, then apply the CustomResourceDefinition and the objects again";
  return state === "deleted"
    ? restore
    : `${restore}. To delete everything, annotate the CustomResourceDefinition with ${annotationKeys.allowCrdDeletion}=true`;
};

/** Of a terminating object that is kept. */
export const deletionPausedMessage = (crd: CrdState): string =>
  `Deletion paused: ${describeCrd(crd)}. No node is drained and no VM is deleted. ${remedy(crd)}`;

/** Of an object that creates and deletes nothing meanwhile. */
export const pausedMessage = (crd: CrdState): string =>
  `Paused: ${describeCrd(crd)}. Nothing is created, scaled or deleted. ${remedy(crd)}`;
