import { formatGoDuration, parseGoDuration } from "@millwright/base";
import { markerOf, otherMarkers, type DeletionStage } from "./deletion-stages.ts";

/*
 * Texts of `status.lastOperation.description` that people, dashboards and tests match on.
 * Source: MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow; MCM, `pkg/apis/machine/v1alpha1/machine_types.go` LastOperation. No text holds a value that changes with each reconcile.
 */

/** Pending: the VM exists and its node has not joined, or waits for something else. MCM still writes `Creating machine on cloud provider`. */
export function waitingForNode(awaited = "its Node to join the cluster"): string {
  return `Created VM on cloud provider; waiting for ${awaited}`;
}

/** The end of a text about a machine whose driver returned a name of its node that cannot be the label `node`. */
export function unusableNodeName(nodeName: string): string {
  const shown = nodeName.length > 80 ? `${nodeName.slice(0, 80)}…` : nodeName;
  const name = nodeName === "" ? "no node name" : `node name ${JSON.stringify(shown)}, which cannot be the label node`;
  return `The driver returned ${name}. The Node is found only by its provider id`;
}

/** The same where the name is not known any more. */
export function unknownNodeName(): string {
  return "The driver returned no node name that can be the label node. The Node is found only by its provider id";
}

/** A write that the API server refused. `write`: verb, kind and name; `answer`: status, reason and message of the server. */
export function writeRefused(write: string, answer: string): string {
  return `Failed to ${write}: ${answer}`;
}

/** The same write was accepted later. */
export function writesAccepted(name: string): string {
  return `The API server accepts the writes of machine ${name} again`;
}

/** Available: the VM exists and there is no target cluster. */
export function createdMachine(): string {
  return "Created machine on cloud provider";
}

/** Running for the first time. `durationMs` is the time since the machine's creation, rounded to whole seconds. */
export function joined(name: string, durationMs: number): string {
  return `Machine ${name} successfully joined the cluster in ${wholeSeconds(durationMs)}`;
}

/** Running again after Unknown or Failed. */
export function rejoined(name: string): string {
  return `Machine ${name} successfully re-joined the cluster`;
}

/** Unknown because the Node object does not exist. */
export function nodeMissing(name: string, nodeName: string): string {
  return `Node ${nodeName} of machine ${name} is missing. The machine is unhealthy - changing its phase to Unknown`;
}

/** Unknown because of the Node's conditions. `conditions` names the bad ones, without times. */
export function nodeUnhealthy(name: string, conditions: string): string {
  return `Machine ${name} is unhealthy - changing its phase to Unknown. Node conditions: ${conditions}`;
}

/** Failed because the node did not join within the creation timeout. The word "minutes" is part of the wire text. */
export function joinTimedOut(name: string, timeoutMs: number): string {
  return `Machine ${name} failed to join the cluster in ${formatGoDuration(timeoutMs)} minutes.`;
}

/** Still Pending after the creation timeout, because an API server was unreachable and the node may have joined. */
export function joinUnknown(name: string): string {
  return `Cannot determine whether the node of machine ${name} joined: the API server of the machines or of the nodes is unreachable`;
}

/** Failed because the node stayed unhealthy for the health timeout. */
export function healthTimedOut(name: string, timeoutMs: number, conditions: string): string {
  return `Machine ${name} health checks failing for ${formatGoDuration(timeoutMs)} - changing its phase to Failed. Node conditions: ${conditions}`;
}

/** Failed because the cloud will reclaim the VM by `deadline`, RFC 3339. */
export function spotInterrupted(name: string, taint: string, deadline: string): string {
  return `The cloud reclaims the VM of machine ${name} at ${deadline} (taint ${taint} of its node) - changing its phase to Failed`;
}

/** Why an unhealthy machine is not remediated although its health timeout has passed; the end of {@link remediationOnHold}. */
export const remediationHolds = {
  gate: (group: string) => `Waiting for the remediation of other machines of ${group}`,
  gateWithNote: (group: string, note: string) => `Waiting for the remediation of other machines of ${group} (${note})`,
  outage: () => "Remediation paused: many machines became Unknown within a short time, which suggests an outage",
  zoneOutage: (zone: string) =>
    `Remediation paused: many machines of zone ${zone} became Unknown within a short time, which suggests an outage`,
  unreachable: () => "Remediation paused: the API server is unreachable, so the node may be healthy",
} as const;

/** An unhealthy machine that keeps its phase although its health timeout has passed. `hold` is one of {@link remediationHolds}. */
export function remediationOnHold(name: string, timeoutMs: number, hold: string): string {
  return `Machine ${name} health checks failing for ${formatGoDuration(timeoutMs)}. ${hold}`;
}

/** A Pending machine that is not replaced although its creation timeout has passed. `hold` is one of {@link remediationHolds}. */
export function joinOnHold(name: string, timeoutMs: number, hold: string): string {
  return `Machine ${name} has not joined the cluster in ${formatGoDuration(timeoutMs)}. ${hold}`;
}

/** Pending or Unknown because the node under the machine's node name belongs to another VM. */
export function nodeOfAnotherVm(name: string, providerId: string, nodeName: string, otherProviderId: string): string {
  return `Node ${nodeName} has provider id ${otherProviderId}, machine ${name} has ${providerId}. Node is not adopted`;
}

/** Maximum number of further nodes in a message. */
const NAMED_NODES = 3;

/** Several nodes are proven to be the VM's. `counts`: the one that the machine follows. */
export function severalNodes(providerId: string, counts: string, others: readonly string[]): string {
  const more = others.length > NAMED_NODES ? ` and ${others.length - NAMED_NODES} more` : "";
  const rest = `${others.length === 1 ? "Node" : "Nodes"} ${others.slice(0, NAMED_NODES).join(", ")}${more} ${others.length === 1 ? "does" : "do"} not`;
  return `VM ${providerId} has ${others.length + 1} Nodes: Node ${counts} counts, ${rest}. A kubelet registers another Node when its host name changes. Delete what is out of use`;
}

/** Unknown because neither the list of VMs nor the driver finds the VM, although its node may still be there. */
export function vmMissing(name: string, providerId: string | undefined): string {
  return `VM ${String(providerId)} of machine ${name} does not exist`;
}

/** The VM that the machine names is that of another Machine, which keeps it. */
export function vmOfOtherMachine(name: string, providerId: string, holder: string): string {
  return `VM ${providerId} belongs to Machine ${holder}. Delete Machine ${name}; the VM is kept`;
}

/** The machine was deleted without its VM, which is that of another Machine. */
export function onlyObjectDeleted(providerId: string, holder: string): string {
  return `Only the object is deleted: VM ${providerId} belongs to Machine ${holder}`;
}

/** The driver answered a creation with the VM of another Machine, which keeps it. */
export function answeredVmOfOtherMachine(providerId: string, holder: string): string {
  return `the driver returned VM ${providerId}, which belongs to Machine ${holder}`;
}

/** Pending: there is a Node of the right name that is older than the machine and may be that of a former VM. */
export function nodeOlderThanMachine(name: string, nodeName: string): string {
  return `Node ${nodeName} is older than machine ${name}. Waiting for the kubelet of the new VM to report`;
}

/** Failed because the VM has the name of an existing Node. The first words are compared by tests. */
export function staleNode(nodeName: string): string {
  return `VM using old node obj ${nodeName}`;
}

/** Running again after the safety controller's freeze. */
export function healthTimeoutReset(name: string): string {
  return `Health timeout of machine ${name} was reset because the API server was unreachable`;
}

/** InPlaceUpdating. */
export function updatingInPlace(name: string): string {
  return `Machine ${name} is undergoing an in-place update`;
}

/** InPlaceUpdateSuccessful. */
export function updatedInPlace(name: string): string {
  return `Machine ${name} successfully updated dependencies`;
}

/** InPlaceUpdateFailed as reported by the node agent. */
export function updateInPlaceFailed(name: string, reason: string): string {
  return `Machine ${name} failed to update dependencies: ${reason}`;
}

/** InPlaceUpdateFailed because the agent did not report within the timeout. */
export function updateInPlaceTimedOut(name: string, timeoutMs: number): string {
  return `Machine ${name} failed to in-place update in ${formatGoDuration(timeoutMs)}`;
}

/**
 * A failed create or status call. `error` is the encoded machine error (`machine codes error: code = […] message = […]`);
 * operators rely on the prefix, and the orphan collector of MCM on an `OutOfRange` in it.
 */
export function providerMessage(error: string): string {
  return `Cloud provider message - ${error}`;
}

/** The creation of other machines of the class failed: one machine at a time retries, this one waits. */
export function waitingForClass(className: string, error: string): string {
  return `Waiting for another machine of class ${className} to be created first - ${error}`;
}

/** The class has reached its limit of concurrent creations; this machine waits. */
export function waitingForOtherMachines(className: string): string {
  return `Waiting for the creation of other machines of class ${className}`;
}

/** The infrastructure has accepted the creation of the VM and has not finished it. `message` is the driver's. */
export function provisioningVm(message: string): string {
  return `Provisioning VM: ${message}`;
}

/** Failed because the infrastructure has not finished the VM within the creation timeout. */
export function provisioningTimedOut(name: string, timeoutMs: number, message: string): string {
  return `VM of machine ${name} was not provisioned in ${formatGoDuration(timeoutMs)}: ${message}`;
}

/** A deletion is pending although the driver has seen no VM. */
export const hiddenVm = "no VM was found, but one that was requested before the deletion may not be visible yet";

/** The deletion of the VM that has the name of an existing Node is in progress. */
export function staleVmDeletionPending(nodeName: string, message: string): string {
  return `${staleNode(nodeName)}; ${deletionEvents.vmDeletionPending(message)}`;
}

/** The VM that has the name of an existing Node could not be deleted. */
export function staleVmNotDeleted(nodeName: string, error: string): string {
  return `${staleNode(nodeName)}; cannot delete its VM: ${error}`;
}

/** A failed InitializeMachine. */
export function initializeFailed(error: string): string {
  return `Provider error: ${error}. ${otherMarkers.initializeVm}`;
}

/**
 * The description that makes a stage of the deletion flow run next: what happened, then the stage's marker, which
 * is always at the end, even if the first part quotes another marker.
 */
export function continueWith(stage: DeletionStage, happened?: string): string {
  const marker = markerOf(stage);
  if (happened === undefined || happened.trim() === "") return marker;
  const sentence = happened.trim();
  return /[.!?]$/.test(sentence) ? `${sentence} ${marker}` : `${sentence}. ${marker}`;
}

/** Maximum number of volumes in a description. */
export const NAMED_VOLUMES = 5;

/** What happened in the deletion flow, in MCM's texts; the first part of {@link continueWith}. */
export const deletionEvents = {
  drained: () => "Drain successful",
  /** `others`: number of further volumes. */
  drainedWithVolumes: (nodeName: string, volumes: readonly string[], others = 0) => {
    const more = Math.max(0, volumes.length - NAMED_VOLUMES) + others;
    return `Drain ended, but volumes are still attached to Node ${nodeName}: ${volumes.slice(0, NAMED_VOLUMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  },
  forceDrained: () => "Force Drain successful",
  drainFailed: (error: string) => `Drain failed due to - ${error}. Will retry in next sync`,
  drainFailedForced: (error: string) =>
    `Drain failed due to - ${error}. However, since it's a force deletion shall continue deletion of VM`,
  drainSkipped: () => "Skipping drain as nodeName is not a valid one for machine",
  nodeVanished: (nodeName: string) => `Node ${nodeName} no longer exists, skipping node drain`,
  nodeAbsent: (nodeName: string) =>
    `Waiting for Node ${nodeName}, which does not exist, or for its pods to be deleted: its VM may run them`,
  nodeOfAnotherVm: (nodeName: string) => `Node ${nodeName} belongs to another VM, skipping node drain`,
  noTargetCluster: () => "Running without target cluster, skipping node drain and volume attachment deletion",
  nodeUnreachable: (nodeName: string) =>
    `Node ${nodeName} is unreachable, skipping node drain and deleting the VM first`,
  heldBack: (nodeName: string) =>
    `Node ${nodeName} is unreachable: its pods and volumes are not released until the driver confirms that the VM is deleted`,
  nodeRecovered: (nodeName: string) => `Node ${nodeName} recovered, draining it before its VM is deleted`,
  vmNotFoundBeforeDrain: () => "VM was not found at provider. Moving forward to node drain",
  vmUninitialized: () => "VM instance was not initialized. Moving forward to node drain",
  vmNeverRequested: () => "No VM was requested for the machine, skipping node drain and VM deletion",
  /** `isBeyondDriver`: only a person can help. */
  vmLookUpFailed: (error: string, isBeyondDriver = false) =>
    `Error occurred while getting the VM status - ${error}${isBeyondDriver ? ". Fix the MachineClass or its Secret" : ""}`,
  vmDeleted: () => "VM deletion was successful",
  vmNotFound: () => "VM not found. Continuing deletion flow",
  vmNotFoundOfReadyNode: (vm: string, nodeName: string) =>
    `VM ${vm} was not found, but its Node ${nodeName} is Ready: the MachineClass or its credentials may name another place. If the VM does not exist, delete the Node`,
  vmNotFoundOfUnreadyNode: (vm: string | undefined, nodeName: string) =>
    `VM ${String(vm)} was not found, and its Node ${nodeName} is not ready`,
  vmNotFoundByFallback: (vm: string, className: string, fallback: string) =>
    `VM ${vm} was not found with MachineClass ${fallback}, which is used as MachineClass ${className} does not exist and may name another place. Restore ${className}`,
  vmOfUnlistedClass: (vm: string, className: string, missing: number, machines: number) =>
    `VM ${vm} may still run: VMs of ${missing} of ${machines} machines of MachineClass ${className} are not listed. Check its credentials and the fields that locate VMs. If the VM does not exist, set the label force-deletion=True`,
  vmNotListedYet: (vm: string, className: string) =>
    `VM ${vm} was not found. Waiting for the first list of the VMs of MachineClass ${className}`,
  /** `recorded`: a field that locates VMs, as it was when the VM was requested; `present`: as it is. */
  vmMayRunElsewhere: (vm: string, className: string, recorded: string, present: string) =>
    `${vm === "" ? "A VM" : `VM ${vm}`} may still run where it was requested, with ${recorded}: MachineClass ${className} has ${present} now. Change it back. If the VM does not exist, set the label force-deletion=True`,
  vmDeletionRetried: (error: string) => `VM deletion failed due to - ${error}. However, will re-try in the next resync`,
  vmDeletionAborted: (error: string) => `VM deletion failed due to - ${error}. Aborting operation`,
  vmDeletionPending: (message: string) => `VM deletion is in progress: ${message}`,
  stageFailed: (error: string) => `Machine deletion failed due to - ${error}. Will retry in next sync`,
  targetUnread: () =>
    "Nodes and pods are not listed yet: the API server of the nodes is unreachable or slow, or rejects the lists",
  nodeNotDeleted: (nodeName: string) => `The API server of the nodes is unreachable: Node ${nodeName} is not deleted`,
  nodeDeleted: (nodeName: string) => `Deletion of Node Object "${nodeName}" is successful`,
} as const;

const deletedWords = "; machine deleted";

/** A longer duration is a clock error and is ignored. */
const YEAR_MS = 366 * 24 * 3_600_000;

/**
 * Message of the last event about a machine. `tookMs`, the duration of the whole deletion, is rounded to whole seconds; leave it out where there was no node to
 * drain: {@link deletionTimeIn} is used to estimate drains.
 */
export function machineDeleted(happened: readonly string[], tookMs?: number): string {
  const took = tookMs === undefined || tookMs > YEAR_MS ? "" : ` after ${wholeSeconds(tookMs)}`;
  return `${happened.join(". ")}${deletedWords}${took}`;
}

/** The deletion has ended, but the object exists until its other finalizers are gone. */
export function keptByFinalizers(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return `Only finalizers of others keep the object: ${shown}${names.length > 5 ? ` and ${names.length - 5} more` : ""}`;
}

/** Duration at the end of a message of {@link machineDeleted}, milliseconds, at most a year; `undefined` for any other text. Used by `millwright plan`. */
export function deletionTimeIn(message: string): number | undefined {
  const duration = message.split(`${deletedWords} after `).at(1);
  const ms = parseGoDuration(duration ?? "");
  return ms !== undefined && ms >= 0 && ms <= YEAR_MS ? ms : undefined;
}

/** Description that the MachineSet controller writes when it deletes a machine. Source: MCM, `pkg/controller/machineset.go` terminateMachines. */
export function deletingMachine(): string {
  return "Deleting machine from cloud provider";
}

function wholeSeconds(durationMs: number): string {
  return formatGoDuration(Math.max(0, Math.round(durationMs / 1000)) * 1000);
}
