import { type Machine, phaseOf, type DeletionStage, readOperation } from "@millwright/core";

/** Whether the object is terminating, whatever its phase: the deletion timestamp is set by the API server, the phase follows later. */
export const isDeleting = (machine: Machine): boolean =>
  machine.metadata.deletionTimestamp != null || machine.status?.currentStatus?.phase === "Terminating";

/** Whether the machine exists and is not terminating. */
export const isPresent = (machine: Machine): boolean => !isDeleting(machine);

/** Whether the machine is present, and its node is Ready. */
export const isReady = (machine: Machine): boolean => isPresent(machine) && phaseOf(machine) === "Running";

/** Whether the machine is in service: Running, or Available without a target cluster. */
export const isAvailable = (machine: Machine): boolean => {
  const phase = machine.status?.currentStatus?.phase;
  return (phase === "Running" || phase === "Available") && machine.metadata.deletionTimestamp == null;
};

/** Whether the machine is preserved at `now`, and so is kept although it is Failed or surplus. */
export const isPreserved = (machine: Machine, now: Date): boolean => {
  const expiry = machine.status?.currentStatus?.preserveExpiryTime;
  return expiry != null && Date.parse(expiry) > now.getTime();
};

/** Whether the machine is Failed, and is to be replaced or preserved. */
export const isFailed = (machine: Machine): boolean => phaseOf(machine) === "Failed";

/** Whether the machine is Failed and was preserved; the preservation may have expired. */
export const isPreservedFailure = (machine: Machine): boolean =>
  isFailed(machine) && machine.status?.currentStatus?.preserveExpiryTime != null;

/** The stage of a machine's deletion, from its status; `undefined` when the flow has not started. */
export const markedStage = ({ machine }: { readonly machine: Machine }): DeletionStage | undefined =>
  phaseOf(machine) === "Terminating" && machine.status?.lastOperation?.type === "Delete"
    ? readOperation(machine.status).stage
    : undefined;
