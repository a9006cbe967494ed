import { deletionEvents, encodeMachineError, retryClassOf } from "@millwright/core";
import { untilRetry } from "../retry.ts";
import type { Stage } from "./stage.ts";

/** Lets the driver delete the VM. Only its word that there is none any more ends the stage. */
export const deleteVm: Stage = (snapshot, now) => {
  const { machine, operation, classView, inputs } = snapshot;
  if (operation?.state === "running") return { next: "stay" };
  if (operation?.kind === "delete" && operation.state === "done")
    return { next: "DeleteNode", happened: deletionEvents.vmDeleted() };
  if (operation?.kind === "delete" && operation.state === "failed") {
    if (operation.code === "NotFound") return { next: "DeleteNode", happened: deletionEvents.vmNotFound() };
    const error = encodeMachineError(operation);
    const isTransient = retryClassOf(operation.code) === "transient";
    const happened = isTransient ? deletionEvents.vmDeletionRetried(error) : deletionEvents.vmDeletionAborted(error);
    const wakeAfterMs = untilRetry(operation, inputs, now);
    if (!operation.isAcknowledged)
      return { next: "stay", happened, state: "Failed", actions: [{ kind: "AcknowledgeOperation" }], wakeAfterMs };
    if (wakeAfterMs > 0) return { next: "stay", happened, state: "Failed", wakeAfterMs };
  }
  if (classView.state === "unusable") {
    const { providerID } = machine.spec;
    // A class that is gone says nothing about a VM whose id is known; a machine that never got one has nothing to delete.
    if (providerID === undefined || providerID === "") return { next: "DeleteNode", happened: classView.problem };
    return { next: "stay", happened: `VM ${providerID} cannot be deleted: ${classView.problem}`, state: "Failed" };
  }
  return { next: "stay", actions: [{ kind: "StartOperation", operation: "delete" }] };
};
