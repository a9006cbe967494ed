import { labelKeys } from "@millwright/core";
import { type MachineDecision, nothing } from "../state/decision.ts";
import type { OperationResult } from "../../model/operation.ts";
import { msUntilRetry } from "../../model/retry.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { recordFailure } from "./record-failure.ts";
import { statusWithVm } from "./record-vm.ts";
import { rejectMachine } from "./reject-machine.ts";

/** The VM is as it should be: the machine waits for its node now. What was not asked for again is on the object. */
function settle(snapshot: MachineSnapshot, result: OperationResult, now: Date): MachineDecision {
  const nodeName = result.nodeName ?? snapshot.machine.metadata.labels?.[labelKeys.node];
  const known = nodeName === undefined ? result : { ...result, nodeName };
  return {
    actions: [{ kind: "AcknowledgeOperation" }],
    status: statusWithVm(snapshot, known, now),
    because: [],
  };
}

/**
 * Takes a machine whose VM has an id to the end of its creation. Who stored the id may be gone: the driver is asked whether the VM is initialized. A driver
 * that finds no VM, or cannot tell, is not believed against the id (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow): its cloud may show VMs late, so the VM is initialized, which does
 * nothing where that was done, and nothing at all where the driver has no such step.
 */
export function decideInitialization(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { operation, classView, inputs, settings } = snapshot;
  if (operation?.state === "done" && operation.kind === "find" && operation.result.needsInitialization !== true)
    return settle(snapshot, operation.result, now);
  if (operation?.state === "done" && operation.kind === "initialize") return settle(snapshot, operation.result, now);
  const isUnseen =
    operation?.state === "failed" &&
    operation.kind === "find" &&
    (operation.code === "NotFound" || operation.code === "Unimplemented");
  const isAsking = operation?.kind === "find" || operation?.kind === "initialize";
  if (operation?.state === "failed" && isAsking) {
    if (!isUnseen && !operation.isAcknowledged) return recordFailure(snapshot, operation, now);
  }
  // What is wrong with the machine's spec or its user data is no obstacle to looking after a VM that exists.
  if (classView.state === "unusable") return rejectMachine(snapshot, classView, now);
  if (isUnseen || (operation?.state === "done" && operation.kind === "find"))
    return {
      actions: [{ kind: "AcknowledgeOperation" }, { kind: "StartOperation", operation: "initialize" }],
      because: [],
    };
  if (operation?.state === "failed" && isAsking) {
    const waitMs = msUntilRetry(operation, inputs, now, settings.resourceExhaustedRetryMs);
    if (waitMs > 0) return { ...nothing, requeueAfterMs: waitMs };
    return { actions: [{ kind: "StartOperation", operation: operation.kind }], because: [] };
  }
  return { actions: [{ kind: "StartOperation", operation: "find" }], because: [] };
}
