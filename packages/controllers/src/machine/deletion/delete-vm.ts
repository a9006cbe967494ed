import { deletionEvents, encodeMachineError, type Machine, retryClassOf } from "@millwright/core";
import type { ClassView } from "../../cluster/class-view.ts";
import { isWithoutRequest, readIntent } from "../../model/creation-intent.ts";
import { bounded } from "../creation/record-failure.ts";
import { msUntilRetry } from "../../model/retry.ts";
import { isBeyondDriver, isForceDeletion } from "./force-deletion.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import type { Stage, StageResult } from "./stage.ts";
import { heldBack } from "./unreachable-node.ts";

/** Without a class no driver can be called: only a machine that has no VM goes on. */
function withoutClass(
  machine: Machine,
  { isMissing, problem }: ClassView & { readonly state: "unusable" },
): StageResult {
  const { providerID = "" } = machine.spec;
  // A class is kept while machines refer to it: one that does not exist never existed, and without an intent no VM was requested.
  const wasAsked = readIntent(machine) !== undefined;
  const neverHadVm = providerID === "" && ((isMissing && !wasAsked) || isForceDeletion(machine));
  if (neverHadVm) return { next: "DeleteNode", happened: problem };
  const vm = providerID === "" ? "a VM that may exist" : `VM ${providerID}`;
  return { next: "stay", happened: `Cannot delete ${vm}: ${problem}`, state: "Failed" };
}

/** Reports what waits for the VM, where it cannot be deleted. */
function withHeldBack(result: StageResult, snapshot: MachineSnapshot, now: Date): StageResult {
  const note = heldBack(snapshot, now);
  return note === undefined || result.next !== "stay" || result.happened === undefined || result.state !== "Failed"
    ? result
    : { ...result, happened: `${result.happened}. ${note}` };
}

/** Lets the driver delete the VM. The stage ends when the driver reports that the VM does not exist. */
export const deleteVm: Stage = (snapshot, now) => withHeldBack(nextOf(snapshot, now), snapshot, now);

const nextOf: Stage = (snapshot, now) => {
  const { machine, operation, classView, inputs } = snapshot;
  if (isWithoutRequest(machine)) return { next: "DeleteNode" };
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
  if (classView.state === "unusable") return withoutClass(machine, classView);
  return { next: "stay", actions: [{ kind: "StartOperation", operation: "delete" }] };
};
