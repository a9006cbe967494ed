import { type Machine, phaseOf } from "@millwright/core";

/** Whether the object is on its way out, whatever its phase says: the timestamp is the API server's word, the phase lags. */
export const isDeleting = (machine: Machine): boolean =>
  machine.metadata.deletionTimestamp != null || machine.status?.currentStatus?.phase === "Terminating";

/** Whether the machine serves: Running, or Available where there is no target cluster to join. */
export const isAvailable = (machine: Machine): boolean => {
  const phase = machine.status?.currentStatus?.phase;
  return (phase === "Running" || phase === "Available") && machine.metadata.deletionTimestamp == null;
};

/** Whether a preservation is in force at `now`, so that the machine is kept although it is broken or surplus. */
export const isPreserved = (machine: Machine, now: Date): boolean => {
  const expiry = machine.status?.currentStatus?.preserveExpiryTime;
  return expiry != null && Date.parse(expiry) > now.getTime();
};

/** Whether the machine is broken for good, and is to be replaced or kept for a look at it. */
export const isFailed = (machine: Machine): boolean => phaseOf(machine) === "Failed";

/** Whether the machine is Failed and was kept for a look at it; the preservation may be over by now. */
export const isPreservedFailure = (machine: Machine): boolean =>
  isFailed(machine) && machine.status?.currentStatus?.preserveExpiryTime != null;
