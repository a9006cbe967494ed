import { finalizers, type Machine } from "@millwright/core/machine-api";
import { isForceDeletion } from "./force-deletion.ts";
import { markedStage } from "./phase.ts";
import { hasId } from "./provisioning.ts";

/** Whether the VM of a terminating Machine is still kept, and no one forced its deletion. */
export const isUndecided = (machine: Machine): boolean =>
  machine.metadata.deletionTimestamp != null &&
  machine.metadata.finalizers?.includes(finalizers.machine) === true &&
  hasId(machine) &&
  markedStage({ machine }) === undefined &&
  !isForceDeletion(machine);
