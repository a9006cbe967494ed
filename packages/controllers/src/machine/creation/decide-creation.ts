import {
  createdMachine,
  creatingMachine,
  encodeMachineError,
  formatProblems,
  labelKeys,
  type Machine,
  machineEventReasons,
  type MachinePhase,
  type MachineStatus,
  phaseOf,
  providerMessage,
  retryClassOf,
} from "@millwright/core";
import type { Reason } from "../decision.ts";
import { type MachineDecision, nothing } from "../decision.ts";
import type { FailedOperation, OperationResult } from "../operation.ts";
import { untilRetry } from "../retry.ts";
import type { MachineSnapshot } from "../snapshot.ts";
import { statusOf, withOperation, withPhase } from "../status-change.ts";
import { creationDeadline } from "../timeouts.ts";
import { recordIds } from "../vm-ids.ts";

/** The phases that creation starts from. A machine in another one has lost nothing but its id, and keeps its phase. */
function isComingUp(machine: Machine): boolean {
  const phase = phaseOf(machine);
  return phase === "" || phase === "CrashLoopBackOff";
}

/** Whether the id of the VM is stored. */
const hasId = ({ spec }: Machine): boolean => spec.providerID !== undefined && spec.providerID !== "";

/**
 * Whether the machine still has no VM, or its VM is not in its status yet. A Failed machine gets no VM any more: it is replaced, and a VM
 * made now could live on unseen (machine-controller.md, F10).
 */
export function needsCreation({ machine }: MachineSnapshot): boolean {
  return phaseOf(machine) !== "Failed" && (!hasId(machine) || isComingUp(machine));
}

/** The machine cannot be followed as it is declared; only a change of the named object helps, so time does not make it Failed. */
function refuse(snapshot: MachineSnapshot, reason: string, message: string, now: Date): MachineDecision {
  const before = statusOf(snapshot.machine);
  const operation = { description: message, errorCode: "InvalidArgument", state: "Failed", type: "Create" } as const;
  const said = withOperation(before, operation, now);
  const status = isComingUp(snapshot.machine) ? withPhase(said, "CrashLoopBackOff", now) : said;
  const isNew = status.lastOperation !== before.lastOperation;
  return { actions: [], status, because: isNew ? [{ type: "Warning", reason, message }] : [] };
}

/** The VM exists: its id and node name go to the object first, then the phase, so that a crash in between loses neither. */
function recordVm(snapshot: MachineSnapshot, result: OperationResult, now: Date): MachineDecision {
  const { providerId = "" } = result;
  const message =
    result.isAdopted === true ? `Found VM ${providerId} of an earlier attempt` : `Created VM ${providerId}`;
  return {
    actions: recordIds(snapshot, result),
    ...(isComingUp(snapshot.machine) ? { status: statusWithVm(snapshot, result, now) } : {}),
    because: [
      {
        type: "Normal",
        reason: result.isAdopted === true ? machineEventReasons.adoptedVm : machineEventReasons.createdVm,
        message,
      },
    ],
  };
}

/** Pending until the node joins, or Available at once where there is no cluster to join. */
function statusWithVm({ machine, hasTarget }: MachineSnapshot, result: OperationResult, now: Date): MachineStatus {
  const { lastKnownState: _, ...rest } = statusOf(machine);
  const before = result.lastKnownState === undefined ? rest : { ...rest, lastKnownState: result.lastKnownState };
  if (hasTarget) {
    const operation = { description: creatingMachine(), state: "Processing", type: "Create" } as const;
    return withPhase(withOperation(before, operation, now), "Pending", now, true);
  }
  const operation = { description: createdMachine(), state: "Successful", type: "Create" } as const;
  const status = withPhase(withOperation(before, operation, now), "Available", now);
  const hostname = result.nodeName === undefined ? [] : [{ type: "Hostname", address: result.nodeName }];
  const addresses = new Map(
    [...(result.addresses ?? []), ...hostname].map((entry) => [`${entry.type}/${entry.address}`, entry]),
  );
  const sorted = [...addresses.entries()].toSorted(([a], [b]) => a.localeCompare(b, "en")).map(([, entry]) => entry);
  return sorted.length === 0 ? status : { ...status, addresses: sorted };
}

/** What the driver wants to remember: what it said now, else what it said before, unless the failure is for good (machine-controller.md, 1.4). */
function withLastKnownState(status: MachineStatus, { code, lastKnownState }: FailedOperation): MachineStatus {
  if (lastKnownState !== undefined) return { ...status, lastKnownState };
  const retry = retryClassOf(code);
  if (retry === "transient" || retry === "exhausted") return status;
  const { lastKnownState: _, ...rest } = status;
  return rest;
}

/** The driver failed: the machine says how, and after the creation timeout it is given up and replaced. */
function recordFailure(snapshot: MachineSnapshot, failed: FailedOperation, now: Date): MachineDecision {
  const { machine } = snapshot;
  const phase: MachinePhase | undefined = !isComingUp(machine)
    ? undefined
    : now.getTime() > creationDeadline(snapshot)
      ? "Failed"
      : "CrashLoopBackOff";
  const description = providerMessage(encodeMachineError(failed));
  const operation = { description, errorCode: failed.code, state: "Failed", type: "Create" } as const;
  const before = statusOf(machine);
  const said = withOperation(before, operation, now);
  const status = phase === undefined ? said : withPhase(said, phase, now);
  const because: Reason[] =
    status === before
      ? []
      : [{ type: "Warning", reason: machineEventReasons.failedCreateVm, message: `${failed.code}: ${failed.message}` }];
  return {
    actions: [{ kind: "AcknowledgeOperation" }],
    status: withLastKnownState(status, failed),
    because,
    ...(phase === "Failed" ? {} : { wakeAfterMs: untilRetry(failed, snapshot.inputs, now) }),
  };
}

/**
 * Brings the VM of a machine into being. What cannot work is refused by name; what the driver answered is recorded before anything else is
 * asked of it; a failed call waits for its time or for a change of what it was made from.
 */
export function decideCreation(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine, operation, problems, classView, hasTarget } = snapshot;
  if (operation?.state === "running") return nothing;
  if (operation?.state === "done" && operation.kind === "create") return recordVm(snapshot, operation.result, now);
  if (hasId(machine)) {
    const nodeName = machine.metadata.labels?.[labelKeys.node];
    return {
      actions: [],
      status: statusWithVm(snapshot, hasTarget || nodeName === undefined ? {} : { nodeName }, now),
      because: [],
    };
  }
  if (problems.length > 0) return refuse(snapshot, machineEventReasons.invalidMachine, formatProblems(problems), now);
  const obstacle = classView.state === "unusable" ? classView : classView.obstacle;
  if (obstacle !== undefined) return refuse(snapshot, obstacle.reason, obstacle.problem, now);
  if (operation?.state === "failed") {
    if (!operation.isAcknowledged) return recordFailure(snapshot, operation, now);
    const waitMs = untilRetry(operation, snapshot.inputs, now);
    if (waitMs > 0) return { ...nothing, wakeAfterMs: waitMs };
  }
  return { actions: [{ kind: "StartOperation", operation: "create" }], because: [] };
}
