import {
  conflictConditionType,
  finalizers,
  isNodeConditionType,
  type Machine,
  machineEventReasons,
  type MachineStatus,
  onlyObjectDeleted,
  phaseOf,
  vmOfOtherMachineReason,
} from "@millwright/core/machine-api";
import { findCondition, removeCondition, setCondition, removeFinalizerPatch } from "@millwright/kube";
import type { Hold } from "../../model/hold.ts";
import { readIntent } from "../../model/creation-intent.ts";
import { isProvisioning } from "../../model/provisioning.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { creationDeadline } from "../../model/timeouts.ts";
import { failingPhase, withFailure } from "../creation/record-failure.ts";
import { decideTimeouts } from "../health/decide-timeouts.ts";
import { decidePreservation } from "../preservation/decide-preservation.ts";
import { runSteps } from "../state/run-steps.ts";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** Whether the machine has the condition Conflict. */
export const hasConflict = ({ status }: Machine): boolean =>
  findCondition(status?.conditions, conflictConditionType) !== undefined;

/** The machine without the condition. */
export const withoutConflict = (machine: Machine): Machine => ({
  ...machine,
  status: { ...machine.status, conditions: removeCondition(machine.status?.conditions ?? [], conflictConditionType) },
});

/** The status with the condition in place of those of the node, which is the other machine's. */
function withConflict(status: MachineStatus, message: string, now: Date): MachineStatus {
  const before = (status.conditions ?? []).filter(({ type }) => !isNodeConditionType(type));
  const state = { type: conflictConditionType, status: "True", reason: vmOfOtherMachineReason, message } as const;
  return { ...status, conditions: setCondition(before, state, { now }) };
}

/** Deletes only the object: neither is the node drained nor the driver called, for both are the other machine's. */
function deleteObject({ machine, operation, holder }: MachineSnapshot): MachineDecision {
  if (machine.metadata.finalizers?.includes(finalizers.machine) !== true) return nothing;
  // A VM that is being created must be known before the machine is deleted: it may be another one.
  if (operation?.kind === "create" && operation.state === "running") return nothing;
  const token: readonly MachineAction[] =
    readIntent(machine)?.bootstrapToken === true ? [{ kind: "RemoveBootstrapToken" }] : [];
  const message = onlyObjectDeleted(holder?.providerId ?? "", holder?.name ?? "");
  return {
    actions: [...token, { kind: "PatchMachine", patch: removeFinalizerPatch(machine, finalizers.machine) }],
    because: [{ type: "Warning", reason: machineEventReasons.vmConflict, message }],
  };
}

/** The phase of a machine whose VM turns out to be that of another one: it is not available any more. */
function withoutVm(status: MachineStatus, message: string, now: Date): MachineStatus {
  const phase = phaseOf({ status });
  const type = phase === "Pending" ? "Create" : "HealthCheck";
  const state = phase === "Available" ? "Failed" : "Processing";
  const updated = withOperation(status, { description: message, state, type }, now);
  if (phase === "Running") return withPhase(updated, "Unknown", now);
  // Without a target cluster no health timeout follows.
  return phase === "Available" ? withPhase(updated, "Failed", now) : updated;
}

/** The status of the machine, and the timeouts after which it is Failed, which its set replaces. */
function decideDuplicate(snapshot: MachineSnapshot, message: string, now: Date): MachineDecision {
  const { machine } = snapshot;
  const marked = withConflict(statusOf(machine), message, now);
  const because = hasConflict(machine)
    ? []
    : [{ type: "Warning", reason: machineEventReasons.vmConflict, message } as const];
  if (isProvisioning(machine)) {
    const status = withFailure(snapshot, marked, { description: message, errorCode: "AlreadyExists" }, now);
    const requeueAfterMs = Math.max(0, creationDeadline(snapshot) - now.getTime()) + 1;
    return { actions: [], status, because, ...(failingPhase(snapshot, now) === "Failed" ? {} : { requeueAfterMs }) };
  }
  if (!hasConflict(machine)) return { actions: [], status: withoutVm(marked, message, now), because };
  // Its text is kept from here on, since the timeouts report in it, too.
  return snapshot.hasTarget ? decideTimeouts(snapshot, marked, [message], now) : { ...nothing, status: marked };
}

/**
 * Decides about a machine whose VM belongs to another Machine. It has the condition Conflict and is not available; its node is never touched, and the driver is
 * never called. After the creation or health timeout it is Failed. Its deletion removes only the object. When the other Machine is deleted, the conflict ends.
 */
export function decideConflict(snapshot: MachineSnapshot, { message }: Hold, now: Date): MachineDecision {
  if (snapshot.machine.metadata.deletionTimestamp != null) return deleteObject(snapshot);
  return runSteps(snapshot, now, [(each, at) => decideDuplicate(each, message, at), decidePreservation]);
}
