import {
  annotationKeys,
  crdDeletedReason,
  crdsEstablishedConditionType,
  eventReasons,
  machineEventReasons,
} from "@millwright/core/machine-api";
import type { CrdState } from "../model/crd-state.ts";
import type { Hold } from "../model/hold.ts";

/** The name of the guard. */
export const CRD = "crd";

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

/** The hold of a Machine whose only reason to terminate is a CRD. Its VM is in service: the phase stays. */
export const crdHoldOfMachine = (crd: CrdState): Hold => ({
  by: CRD,
  holds: "deletion",
  message: deletionPausedMessage(crd),
  remedy: remedy(crd),
  event: { type: "Warning", reason: machineEventReasons.deletionPaused },
  stalls: "CRDDeleted",
  keepsPhase: true,
});

/** The hold of an object that owns others, while a CRD takes them or the object itself. */
export const crdHoldOfOwner = (crd: CrdState): Hold => ({
  by: CRD,
  holds: "everything",
  message: pausedMessage(crd),
  remedy: remedy(crd),
  event: { type: "Warning", reason: eventReasons.crdDeleted },
  condition: { type: crdsEstablishedConditionType, status: "False", reason: crdDeletedReason },
});
