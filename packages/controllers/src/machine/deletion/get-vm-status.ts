import { deletionEvents, encodeMachineError, labelKeys, staleNode as staleNodeText } from "@millwright/core";
import { isWithoutRequest, readIntent } from "../../model/creation-intent.ts";
import { msUntilRetry } from "../../model/retry.ts";
import { canBeLabel, recordIds } from "../state/vm-ids.ts";
import { isBeyondDriver, isForceDeletion } from "./force-deletion.ts";
import type { Stage } from "./stage.ts";

/** Finds the node of the machine: from the objects, else from the driver. */
export const getVmStatus: Stage = (snapshot, now) => {
  const { machine, node, hasTarget, operation, classView } = snapshot;
  if (!hasTarget) return { next: "DeleteVm", happened: deletionEvents.noTargetCluster() };
  // The node of that name belongs to another VM and must not be drained.
  const { staleNode } = readIntent(machine) ?? {};
  if (staleNode !== undefined) return { next: "DeleteVm", happened: staleNodeText(staleNode) };
  if (node !== undefined || (machine.metadata.labels?.[labelKeys.node] ?? "") !== "") return { next: "Drain" };
  if (isWithoutRequest(machine)) return { next: "DeleteVm", happened: deletionEvents.vmNeverRequested() };
  // Without a class no driver can be called; a machine without an id whose class never existed has no VM.
  if (classView.state === "unusable") return { next: "Drain", happened: classView.problem };
  if (operation?.state === "running") return { next: "stay" };
  if (operation?.kind === "find" && operation.state === "done") {
    // The node is found by its name in the next reconcile.
    if (!canBeLabel(operation.result.nodeName ?? "")) return { next: "Drain" };
    return { next: "stay", actions: recordIds(snapshot, operation.result) };
  }
  if (operation?.kind === "find" && operation.state === "failed") {
    if (operation.code === "NotFound") return { next: "Drain", happened: deletionEvents.vmNotFoundBeforeDrain() };
    if (operation.code === "Uninitialized") return { next: "Drain", happened: deletionEvents.vmUninitialized() };
    if (operation.code === "Unimplemented") return { next: "Drain" };
    const requeueAfterMs = msUntilRetry(operation, snapshot.inputs, now);
    const isBeyond = isBeyondDriver(machine, operation.code);
    const failure = `Error occurred while getting the VM status - ${encodeMachineError(operation)}`;
    if (isBeyond && isForceDeletion(machine)) return { next: "Drain", happened: failure };
    const happened = isBeyond ? `${failure}. Fix the MachineClass or its Secret` : failure;
    if (!operation.isAcknowledged)
      return { next: "stay", happened, state: "Failed", actions: [{ kind: "AcknowledgeOperation" }], requeueAfterMs };
    if (requeueAfterMs > 0) return { next: "stay", happened, state: "Failed", requeueAfterMs };
  }
  return { next: "stay", actions: [{ kind: "StartOperation", operation: "find" }] };
};
