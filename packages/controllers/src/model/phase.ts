import { type Machine, phaseOf, type DeletionStage, readOperation } from "@millwright/core/machine-api";

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

/**
 * Whether the machine is terminating and its VM is still in service: its deletion has not begun, or is held before its first stage. Decisions count it as lost; the numbers of a status count what serves.
 */
export function isKeptInService(machine: Machine): boolean {
  const { metadata, status } = machine;
  if (metadata.deletionTimestamp == null) return false;
  const phase = phaseOf(machine);
  if (phase === "Running" || phase === "Available") return true;
  const { deletionHold, stage } = readOperation(status);
  const isNodeReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
  return phase === "Terminating" && deletionHold !== undefined && stage === "GetVmStatus" && isNodeReady;
}

/** Whether the VM of the machine is in service, whatever was requested. */
export const isInService = (machine: Machine): boolean => isAvailable(machine) || isKeptInService(machine);

/** Whether the machine is in service, and its node is Ready. */
export const isReadyInService = (machine: Machine): boolean =>
  isReady(machine) || (isKeptInService(machine) && phaseOf(machine) !== "Available");

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
