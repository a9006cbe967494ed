import { labelKeys } from "@millwright/core";
import { type MachineDecision, nothing } from "../state/decision.ts";
import { isInitializationDue } from "../../model/initialization.ts";
import type { OperationResult } from "../../model/operation.ts";
import { msUntilRetry } from "../../model/retry.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { recordFailure } from "./record-failure.ts";
import { statusWithVm } from "./record-vm.ts";
import { rejectMachine } from "./reject-machine.ts";

/** The VM is initialized, and its id is stored: the machine waits for its node. Values that were not requested again are already on the object. */
export function settle(snapshot: MachineSnapshot, result: OperationResult, now: Date): MachineDecision {
  const nodeName = result.nodeName ?? snapshot.machine.metadata.labels?.[labelKeys.node];
  const known = nodeName === undefined ? result : { ...result, nodeName };
  return {
    actions: [{ kind: "AcknowledgeOperation" }],
    status: statusWithVm(snapshot, known, now),
    because: [],
  };
}

/**
 * Completes the creation of a machine whose VM has an id. The process that stored the id may have crashed, so the driver reports whether the VM is initialized.
 * `NotFound` and `Unimplemented` do not override the id (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow): the cloud may list VMs late. Initialization then runs,
 * which is a no-op for initialized VMs and for drivers without such a step.
 */
export function decideInitialization(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine, operation, classView, inputs, settings } = snapshot;
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
  // An invalid machine spec or invalid user data does not affect a VM that exists.
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
  // What is known to be due, also from an earlier process, needs no question: a driver may not report it.
  const next = isInitializationDue(machine, operation) ? "initialize" : "find";
  return { actions: [{ kind: "StartOperation", operation: next }], because: [] };
}
