import {
  type MachineStatus,
  type OperationUpdate,
  phaseOf,
  readOperation,
  writesAccepted,
} from "@millwright/core/machine-api";
import { hasId, isProvisioning } from "../model/provisioning.ts";
import { isSameFailure } from "../model/same-failure.ts";
import { statusOf, withOperation, withPhase } from "../model/status-change.ts";
import { withFailingPhase } from "./creation/record-failure.ts";
import { joinTimeout } from "./health/decide-timeouts.ts";
import type { MachineDecision } from "./state/decision.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";

/** Whether the VM is being created or its Node joins. One from a file, whose VM exists already, is not. */
const isCreating = ({ machine }: MachineSnapshot): boolean =>
  phaseOf(machine) === "Pending" ||
  (isProvisioning(machine) && (!hasId(machine) || machine.status?.lastOperation?.type === "Create"));

/** The type of an operation that fails or goes on: `Create` is only that of a machine that has not joined. */
function typeOf(snapshot: MachineSnapshot): NonNullable<OperationUpdate["type"]> {
  if (isCreating(snapshot)) return "Create";
  const { type = "Create" } = statusOf(snapshot.machine).lastOperation ?? {};
  return type === "Create" ? "Update" : type;
}

/** The status with the refused write as its last operation. The record of a failed initialization stays: without it the VM would count as initialized. */
function withRefusal(snapshot: MachineSnapshot, text: string, now: Date): MachineStatus {
  const status = statusOf(snapshot.machine);
  const { description = "", errorCode } = status.lastOperation ?? {};
  const { reason } = readOperation(status);
  if (reason === "InitializationFailed") return status;
  // Another attempt may have another request id.
  if (reason === "WriteRefused" && isSameFailure(description, text)) return status;
  const kept = errorCode === undefined ? {} : { errorCode };
  const event = { reason: "WriteRefused", text } as const;
  return withOperation(status, { description: event, state: "Failed", type: typeOf(snapshot), ...kept }, now);
}

/**
 * What is recorded of a machine whose reconcile fails since the API server refuses a write: the last operation, and Failed after the creation timeout, as for a driver that fails. A Node that joins can be
 * replaced, so the remediation budget applies to it.
 *
 * @param text the refused write, and the answer
 * @param observed conditions of the Node that the reconcile has seen: health is shown all the same. Default: the stored ones
 */
export function decideRefused(
  snapshot: MachineSnapshot,
  text: string,
  now: Date,
  observed: MachineStatus["conditions"] = snapshot.machine.status?.conditions,
): MachineDecision {
  const refused = withRefusal(snapshot, text, now);
  const status = observed === undefined ? refused : { ...refused, conditions: observed };
  if (!isCreating(snapshot)) return { actions: [], because: [], status };
  if (phaseOf(snapshot.machine) !== "Pending")
    return { actions: [], because: [], status: withFailingPhase(snapshot, status, now) };
  const timeout = joinTimeout(snapshot, statusOf(snapshot.machine), now);
  if (phaseOf(timeout) === "Failed") return { ...timeout, status: withPhase(status, "Failed", now) };
  // The remediation budget counts it by this record.
  return readOperation(timeout.status).reason === "JoinOnHold" ? timeout : { actions: [], because: [], status };
}

/** The decision with the end of a refusal, where nothing else replaces its report. Its actions come first: if they are refused again, nothing changes. */
export function withEndOfRefusal(snapshot: MachineSnapshot, decision: MachineDecision, now: Date): MachineDecision {
  const { machine, isReadable } = snapshot;
  const before = statusOf(machine);
  const { status = before } = decision;
  const isReported = before.lastOperation?.state === "Failed" && status.lastOperation === before.lastOperation;
  if (!isReported || !isReadable || machine.metadata.deletionTimestamp != null) return decision;
  if (readOperation(before).reason !== "WriteRefused") return decision;
  const type = typeOf(snapshot);
  const state = type === "Create" ? "Processing" : "Successful";
  const description = writesAccepted(machine.metadata.name);
  return { ...decision, status: withOperation(status, { description, state, type }, now) };
}
