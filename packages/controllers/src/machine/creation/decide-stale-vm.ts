import { staleNode, staleVmDeletionPending } from "@millwright/core/machine-api";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { msUntilRetry } from "../../model/retry.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { doubtOfMovedClass, endedDeletion, isOutdated } from "../state/vm-answers.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { hasId, isProvisioning } from "../../model/provisioning.ts";
import { bounded, failingPhase, withFailedCall } from "./record-failure.ts";
import { rejectMachine } from "./reject-machine.ts";

/** The machine becomes Failed; its set creates another one. */
function failMachine(
  snapshot: MachineSnapshot,
  nodeName: string,
  actions: readonly MachineAction[],
  now: Date,
): MachineDecision {
  const operation = { description: staleNode(nodeName), state: "Failed", type: "Create" } as const;
  const failed = withOperation(statusOf(snapshot.machine), operation, now);
  return { actions, status: isProvisioning(snapshot.machine) ? withPhase(failed, "Failed", now) : failed, because: [] };
}

/**
 * Deletes a VM that came up under the name of an existing node of another VM; then the machine fails (MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow). Its id stays on the machine
 * until the driver reports that the VM does not exist: a failed deletion is retried, at last by the deletion of the machine.
 */
export function decideStaleVm(snapshot: MachineSnapshot, nodeName: string, now: Date): MachineDecision {
  const { machine, operation, classView, inputs, settings } = snapshot;
  if (!hasId(machine)) return failMachine(snapshot, nodeName, [], now);
  const ended = endedDeletion(operation);
  if (ended !== undefined && !isOutdated(snapshot, ended)) {
    // A VM that may run in another place keeps its machine: the deletion of the machine continues it.
    if (doubtOfMovedClass(snapshot, ended) !== undefined) return failMachine(snapshot, nodeName, [], now);
    const { uid } = machine.metadata;
    const patch = { metadata: uid === undefined ? {} : { uid }, spec: { providerID: null } };
    return failMachine(snapshot, nodeName, [{ kind: "PatchMachine", patch }, { kind: "AcknowledgeOperation" }], now);
  }
  if (ended === undefined && operation?.kind === "delete" && operation.state === "failed") {
    const waitMs = msUntilRetry(operation, inputs, now, settings.resourceExhaustedRetryMs);
    if (!operation.isAcknowledged) {
      const status = withFailedCall(snapshot, operation, { reason: "StaleVmNotDeleted", nodeName }, now);
      const isOver = failingPhase(snapshot, now) === "Failed";
      return {
        actions: [{ kind: "AcknowledgeOperation" }],
        status,
        because: [],
        ...(isOver ? {} : { requeueAfterMs: waitMs }),
      };
    }
    if (waitMs > 0) return { ...nothing, requeueAfterMs: waitMs };
  }
  if (operation?.kind === "delete" && operation.state === "pending") {
    // The deletion of the machine continues it.
    if (failingPhase(snapshot, now) === "Failed") return failMachine(snapshot, nodeName, [], now);
    const leftMs = operation.checkAt - now.getTime();
    const description = staleVmDeletionPending(nodeName, bounded(operation.message));
    const status = withOperation(statusOf(machine), { description, state: "Processing", type: "Create" }, now);
    if (leftMs > 0) return { actions: [], status, because: [], requeueAfterMs: leftMs };
  }
  // An invalid machine spec or invalid user data does not affect a VM that exists.
  if (classView.state === "unusable") return rejectMachine(snapshot, classView, now);
  return { actions: [{ kind: "StartOperation", operation: "delete" }], because: [] };
}
