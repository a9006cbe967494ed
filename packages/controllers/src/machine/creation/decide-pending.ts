import { eventsText, machineEventReasons, provisioningTimedOut, readOperation } from "@millwright/core/machine-api";
import type { MachineDecision } from "../state/decision.ts";
import type { PendingView } from "../../model/operation.ts";
import { isProvisioningVm } from "../../model/provisioning.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation } from "../../model/status-change.ts";
import { creationDeadline, creationTimeoutMs } from "../../model/timeouts.ts";
import { isSameFailure } from "../../model/same-failure.ts";
import { bounded, failingPhase, withFailure } from "./record-failure.ts";
import { beginCreation } from "./start-creation.ts";

/**
 * Checks an accepted creation again when it is due, with the same idempotency token. The status contains the driver's message and no error; the phase is kept, so that MCM
 * would continue it, too (`triggerCreationFlow` in pkg/util/provider/machinecontroller/machine.go). The creation timeout applies as for any other machine, however often the driver was called.
 */
export function decidePending(snapshot: MachineSnapshot, pending: PendingView, now: Date): MachineDecision {
  const { machine } = snapshot;
  const { message: words, checkAt } = pending;
  const before = statusOf(machine);
  const message = bounded(words);
  const phase = failingPhase(snapshot, now);
  if (phase === "Failed") {
    const description = provisioningTimedOut(machine.metadata.name, creationTimeoutMs(snapshot), message);
    return {
      actions: [{ kind: "CancelOperation" }],
      status: withFailure(snapshot, before, { description, errorCode: "DeadlineExceeded" }, now),
      because: [{ type: "Warning", reason: machineEventReasons.failedCreateVm, message: description }],
    };
  }
  const wasProvisioning = isProvisioningVm(before);
  const { message: old = "" } = readOperation(before);
  const event = { reason: "ProvisioningVm", message } as const;
  const description = wasProvisioning && isSameFailure(old, message) ? { ...event, message: old } : event;
  const status = withOperation(before, { description, state: "Processing", type: "Create" }, now);
  // One event per creation, not one per check.
  const because = wasProvisioning
    ? []
    : [{ type: "Normal", reason: machineEventReasons.provisioningVm, message: eventsText(event) } as const];
  const leftMs = checkAt - now.getTime();
  if (leftMs <= 0) return { actions: beginCreation(snapshot), status, because };
  const untilDeadlineMs = creationDeadline(snapshot) - now.getTime() + 1;
  return {
    actions: [],
    status,
    because,
    requeueAfterMs: phase === undefined ? leftMs : Math.min(leftMs, untilDeadlineMs),
  };
}
