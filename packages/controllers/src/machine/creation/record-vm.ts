import {
  createdMachine,
  waitingForNode,
  labelKeys,
  machineEventReasons,
  type MachineStatus,
  staleNode,
  answeredVmOfOtherMachine,
  type Machine,
  unusableNodeName,
} from "@millwright/core/machine-api";
import type { Reason } from "../../model/decision.ts";
import type { MachineAction, MachineDecision } from "../state/decision.ts";
import type { OperationResult } from "../../model/operation.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { canBeLabel, isVmOfStaleNode, recordIds } from "../state/vm-ids.ts";
import { isProvisioning } from "../../model/provisioning.ts";
import { intentAnnotation, newIntent, readIntent } from "../../model/creation-intent.ts";
import type { VmHolder } from "../../model/vm-holder.ts";

/** What is reported of the name of a node that cannot be stored; empty where it can. */
function nodeNameProblem({ machine, hasTarget }: MachineSnapshot, nodeName: string): string {
  const isStored = machine.metadata.labels?.[labelKeys.node] !== undefined;
  return hasTarget && !isStored && !canBeLabel(nodeName) ? unusableNodeName(nodeName) : "";
}

/** Pending until the node joins, or Available without a target cluster. A Failed machine stays Failed until its node is healthy. */
export function statusWithVm(snapshot: MachineSnapshot, result: OperationResult, now: Date): MachineStatus {
  const { machine, hasTarget } = snapshot;
  const { lastKnownState: _, ...rest } = statusOf(machine);
  const before = result.lastKnownState === undefined ? rest : { ...rest, lastKnownState: result.lastKnownState };
  if (hasTarget) {
    const problem = nodeNameProblem(snapshot, result.nodeName ?? "");
    const description = problem === "" ? waitingForNode() : `${waitingForNode()}. ${problem}`;
    const operation = { description, state: "Processing", type: "Create" } as const;
    const created = withOperation(before, operation, now);
    return isProvisioning(machine) ? withPhase(created, "Pending", now, true) : created;
  }
  const operation = { description: createdMachine(), state: "Successful", type: "Create" } as const;
  const status = withPhase(withOperation(before, operation, now), "Available", now);
  const { nodeName = "" } = result;
  const hostname = nodeName === "" ? [] : [{ type: "Hostname", address: nodeName }];
  const addresses = new Map(
    [...(result.addresses ?? []), ...hostname].map((entry) => [`${entry.type}/${entry.address}`, entry]),
  );
  const sorted = [...addresses.entries()].toSorted(([a], [b]) => a.localeCompare(b, "en")).map(([, entry]) => entry);
  return sorted.length === 0 ? status : { ...status, addresses: sorted };
}

/** Initialization is a call of its own, after the id of the VM is stored: a crash does not lose the VM. */
const initialize: MachineAction = { kind: "StartOperation", operation: "initialize" };

/** The VM exists: first its id and node name are stored, then the phase, so that a crash in between loses neither. */
export function recordVm(snapshot: MachineSnapshot, result: OperationResult, now: Date): MachineDecision {
  const { providerId = "", nodeName = "" } = result;
  const actions = recordIds(snapshot, result);
  if (isVmOfStaleNode(snapshot)) {
    const message = `${staleNode(nodeName)}: deleting VM ${providerId}; the machine fails`;
    return { actions, because: [{ type: "Warning", reason: machineEventReasons.staleNode, message }] };
  }
  const isAdopted = result.isAdopted === true;
  const problem = nodeNameProblem(snapshot, nodeName);
  const because: readonly Reason[] = [
    {
      type: "Normal",
      reason: isAdopted ? machineEventReasons.adoptedVm : machineEventReasons.createdVm,
      message: isAdopted ? `Found VM ${providerId} of an earlier attempt` : `Created VM ${providerId}`,
    },
    ...(problem === ""
      ? []
      : [{ type: "Warning", reason: machineEventReasons.unusableNodeName, message: problem } as const]),
  ];
  // The driver cannot be called without the class; the next reconcile reports that.
  if (result.needsInitialization === true)
    return { actions: snapshot.classView.state === "usable" ? [...actions, initialize] : actions, because };
  return {
    actions,
    ...(isProvisioning(snapshot.machine) ? { status: statusWithVm(snapshot, result, now) } : {}),
    because,
  };
}

/**
 * Rejects the VM of another Machine with which a driver answered a creation: its id is not stored. It is recorded, so that also a later process does not have the driver delete that VM for this machine.
 * The creation counts as failed and is repeated with the backoff of a failure.
 */
export function rejectVm(machine: Machine, { name, providerId }: VmHolder): MachineDecision {
  const { uid } = machine.metadata;
  const intent = readIntent(machine) ?? newIntent(machine);
  const annotations = intentAnnotation({ ...intent, foreignVm: providerId });
  const patch = { metadata: { ...(uid === undefined ? {} : { uid }), annotations } };
  const message = answeredVmOfOtherMachine(providerId, name);
  return {
    actions: [
      ...(intent.foreignVm === providerId ? [] : [{ kind: "PatchMachine", patch } as const]),
      { kind: "FailOperation", code: "AlreadyExists", message },
    ],
    because: [],
  };
}
