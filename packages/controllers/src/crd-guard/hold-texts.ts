import { annotationKeys } from "@millwright/core";
import type { CrdState } from "../model/crd-state.ts";

const meant = `${annotationKeys.allowCrdDeletion}=true`;

/** What became of a definition, in the same words in every place. */
export function whatHappened(definition: CrdState): string {
  const { name } = definition;
  switch (definition.state) {
    case "going":
      return `CustomResourceDefinition ${name} is being deleted`;
    case "gone":
      return `CustomResourceDefinition ${name} was deleted`;
    case "standing":
    case "unguarded":
      return `CustomResourceDefinition ${name} was deleted and made again`;
  }
}

/** How to get out of it. */
export const remedy = (definition: CrdState): string => {
  const back = "save the objects, remove their finalizers, then apply the definition and the objects again";
  return definition.state === "gone"
    ? back
    : `${back}; or, to let everything go, annotate the definition with ${meant}`;
};

/** Of an object on its way out that is kept. */
export const heldText = (definition: CrdState): string =>
  `Deletion held, nothing is drained and no VM is deleted: ${whatHappened(definition)}. To go on: ${remedy(definition)}`;

/** Of an object that makes and deletes nothing meanwhile. */
export const standstillText = (definition: CrdState): string =>
  `Makes and deletes nothing: ${whatHappened(definition)}. To go on: ${remedy(definition)}`;
