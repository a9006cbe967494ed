import { deletionEvents, encodeMachineError, retryClassOf } from "@millwright/core";
import { readIntent } from "../../model/creation-intent.ts";
import { bounded } from "../creation/record-failure.ts";
import { msUntilRetry } from "../../model/retry.ts";
import { forceWhereNoVm, isBeyondDriver, isForceDeletion } from "./force-deletion.ts";
import type { Stage } from "./stage.ts";

/** Lets the driver delete the VM. The stage ends when the driver reports that the VM does not exist. */
export const deleteVm: Stage = (snapshot, now) => {
  const { machine, operation, classView, inputs } = snapshot;
  if (operation?.state === "running") return { next: "stay" };
  if (operation?.kind === "delete" && operation.state === "done")
    return { next: "DeleteNode", happened: deletionEvents.vmDeleted() };
  if (operation?.kind === "delete" && operation.state === "failed") {
    if (operation.code === "NotFound") return { next: "DeleteNode", happened: deletionEvents.vmNotFound() };
    const error = encodeMachineError(operation);
    if (isBeyondDriver(machine, operation.code) && isForceDeletion(machine))
      return { next: "DeleteNode", happened: deletionEvents.vmDeletionAborted(error) };
    const isTransient = retryClassOf(operation.code) === "transient";
    const happened = isTransient ? deletionEvents.vmDeletionRetried(error) : deletionEvents.vmDeletionAborted(error);
    const requeueAfterMs = msUntilRetry(operation, inputs, now);
    if (!operation.isAcknowledged)
      return { next: "stay", happened, state: "Failed", actions: [{ kind: "AcknowledgeOperation" }], requeueAfterMs };
    if (requeueAfterMs > 0) return { next: "stay", happened, state: "Failed", requeueAfterMs };
  }
  if (operation?.kind === "delete" && operation.state === "pending") {
    const happened = deletionEvents.vmDeletionPending(bounded(operation.message));
    const requeueAfterMs = operation.checkAt - now.getTime();
    const isReported =
      machine.status?.lastOperation?.description?.startsWith(deletionEvents.vmDeletionPending("")) === true;
    const because = isReported ? { because: [] } : {};
    if (requeueAfterMs > 0) return { next: "stay", happened, requeueAfterMs, ...because };
  }
  if (classView.state === "unusable") {
    const { providerID = "" } = machine.spec;
    // Without an intent no VM was ever requested from a driver.
    const wasAsked = readIntent(machine) !== undefined;
    const neverHadVm = providerID === "" && ((classView.isMissing && !wasAsked) || isForceDeletion(machine));
    if (neverHadVm) return { next: "DeleteNode", happened: classView.problem };
    const happened =
      providerID === ""
        ? `Cannot delete a VM that may exist: ${classView.problem}; ${forceWhereNoVm}`
        : `Cannot delete VM ${providerID}: ${classView.problem}`;
    return { next: "stay", happened, state: "Failed" };
  }
  return { next: "stay", actions: [{ kind: "StartOperation", operation: "delete" }] };
};
