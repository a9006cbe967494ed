import { formatGoDuration, parseGoDuration } from "../duration.ts";
import { markerOf, otherMarkers, type DeletionStage } from "./deletion-stages.ts";

/*
 * Texts of `status.lastOperation.description` that people, dashboards and tests match on.
 * Source: MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow; MCM, `pkg/apis/machine/v1alpha1/machine_types.go` LastOperation. No text holds a value that changes from pass to pass.
 */

/** Pending: the VM exists and its node has not joined. */
export function creatingMachine(): string {
  return "Creating machine on cloud provider";
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

/** Unknown because the Node object is gone. */
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

/** Not given up although the node is not there, because nobody could see it. */
export function joinUnseen(name: string): string {
  return `Whether the node of machine ${name} has joined cannot be seen: the API server of the nodes, or that of the machines, does not answer`;
}

/** Failed because the node stayed unhealthy for the health timeout. */
export function healthTimedOut(name: string, timeoutMs: number, conditions: string): string {
  return `Machine ${name} health checks failing for ${formatGoDuration(timeoutMs)} - changing its phase to Failed. Node conditions: ${conditions}`;
}

/** Why an unhealthy machine is not replaced although its health timeout has passed; what {@link replacementHeld} says last. */
export const replacementHolds = {
  gate: (group: string) => `Waiting until other machines of ${group} have been replaced`,
  gateWithNote: (group: string, note: string) =>
    `Waiting until other machines of ${group} have been replaced (${note})`,
  outage: () => "Not replaced while this many machines are Unknown since a short time: it looks like an outage",
  zoneOutage: (zone: string) =>
    `Not replaced while this many machines of zone ${zone} are Unknown since a short time: it looks like an outage`,
  unreachable: () => "Not replaced while the API server cannot be reached: the node may be well",
} as const;

/** An unhealthy machine that keeps its phase although its health timeout has passed. `hold` is one of {@link replacementHolds}. */
export function replacementHeld(name: string, timeoutMs: number, hold: string): string {
  return `Machine ${name} health checks failing for ${formatGoDuration(timeoutMs)}. ${hold}`;
}

/** Pending or Unknown because the node under the machine's node name belongs to another VM. */
export function nodeOfAnotherVm(name: string, providerId: string, nodeName: string, otherProviderId: string): string {
  return `Node ${nodeName} has provider id ${otherProviderId}, machine ${name} has ${providerId}. Node is not adopted`;
}

/** Failed because the VM came up under the name of an existing Node. The first words are compared by tests. */
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

/** A machine whose class, as others have found, cannot be made at present: one machine at a time tries, this one waits. */
export function waitingForClass(className: string, error: string): string {
  return `Waiting until a machine of class ${className} can be made again - ${error}`;
}

/** A machine that waits because as many of its class as allowed are being made. */
export function waitingForTurn(className: string): string {
  return `Waiting until other machines of class ${className} have been made`;
}

const provisioningWords = "Provisioning VM: ";

/** The infrastructure has accepted the creation of the VM and has not finished it. `message` is the driver's. */
export function provisioningVm(message: string): string {
  return `${provisioningWords}${message}`;
}

/** Whether a machine's last operation is that of {@link provisioningVm}: its creation was accepted, perhaps by a call of another process. */
export function isProvisioningVm({
  type,
  state,
  description,
}: { readonly type?: string; readonly state?: string; readonly description?: string } = {}): boolean {
  return type === "Create" && state === "Processing" && description?.startsWith(provisioningWords) === true;
}

/** Failed because the infrastructure has not finished the VM within the creation timeout. */
export function provisioningTimedOut(name: string, timeoutMs: number, message: string): string {
  return `VM of machine ${name} was not provisioned in ${formatGoDuration(timeoutMs)}: ${message}`;
}

/** The VM that came up under the name of an existing Node is being deleted, which takes its time. */
export function staleVmDeletionPending(nodeName: string, message: string): string {
  return `${staleNode(nodeName)}; ${deletionEvents.vmDeletionPending(message)}`;
}

/** The VM that came up under the name of an existing Node could not be deleted. */
export function staleVmNotDeleted(nodeName: string, error: string): string {
  return `${staleNode(nodeName)}; its VM cannot be deleted: ${error}`;
}

/** A failed InitializeMachine. */
export function initializeFailed(error: string): string {
  return `Provider error: ${error}. ${otherMarkers.initializeVm}`;
}

/**
 * The description that makes a stage of the deletion flow run next: what just happened, then the stage's marker, which
 * stays at the end whatever the first part quotes.
 */
export function continueWith(stage: DeletionStage, happened?: string): string {
  const marker = markerOf(stage);
  if (happened === undefined || happened.trim() === "") return marker;
  const sentence = happened.trim();
  return /[.!?]$/.test(sentence) ? `${sentence} ${marker}` : `${sentence}. ${marker}`;
}

/** What just happened in the deletion flow, in MCM's words; the first part of {@link continueWith}. */
export const deletionEvents = {
  drained: () => "Drain successful",
  forceDrained: () => "Force Drain successful",
  drainFailed: (error: string) => `Drain failed due to - ${error}. Will retry in next sync`,
  drainFailedForced: (error: string) =>
    `Drain failed due to - ${error}. However, since it's a force deletion shall continue deletion of VM`,
  drainSkipped: () => "Skipping drain as nodeName is not a valid one for machine",
  nodeVanished: (nodeName: string) => `Node ${nodeName} does not exist any more, skipping node drain`,
  nodeOfAnotherVm: (nodeName: string) => `Node ${nodeName} belongs to another VM, skipping node drain`,
  noTargetCluster: () => "Running without target cluster, skipping node drain and volume attachment deletion",
  vmNotFoundBeforeDrain: () => "VM was not found at provider. Moving forward to node drain",
  vmUninitialized: () => "VM instance was not initialized. Moving forward to node drain",
  vmDeleted: () => "VM deletion was successful",
  vmNotFound: () => "VM not found. Continuing deletion flow",
  vmDeletionRetried: (error: string) => `VM deletion failed due to - ${error}. However, will re-try in the next resync`,
  vmDeletionAborted: (error: string) => `VM deletion failed due to - ${error}. Aborting operation`,
  vmDeletionPending: (message: string) => `VM deletion is in progress: ${message}`,
  stageFailed: (error: string) => `Machine deletion failed due to - ${error}. Will retry in next sync`,
  nodeDeleted: (nodeName: string) => `Deletion of Node Object "${nodeName}" is successful`,
} as const;

const goneWords = "; the machine is gone";

/** A deletion that seems to have taken longer is no measure for others. */
const YEAR_MS = 366 * 24 * 3_600_000;

/**
 * Message of the last event about a machine. `tookMs`, from the deletion to this end, is rounded to whole seconds; leave it out where there was no node to
 * drain: who reads it with {@link leaveTimeIn} asks how long drains take.
 */
export function machineGone(happened: readonly string[], tookMs?: number): string {
  const took = tookMs === undefined || tookMs > YEAR_MS ? "" : ` after ${wholeSeconds(tookMs)}`;
  return `${happened.join(". ")}${goneWords}${took}`;
}

/** Milliseconds that the end of a message of {@link machineGone} tells of, a year at most; `undefined` for any other text. Read by `millwright plan`. */
export function leaveTimeIn(message: string): number | undefined {
  const told = message.split(`${goneWords} after `).at(1);
  const ms = parseGoDuration(told ?? "");
  return ms !== undefined && ms >= 0 && ms <= YEAR_MS ? ms : undefined;
}

/** Description that the MachineSet controller writes when it deletes a machine. Source: MCM, `pkg/controller/machineset.go` terminateMachines. */
export function deletingMachine(): string {
  return "Deleting machine from cloud provider";
}

function wholeSeconds(durationMs: number): string {
  return formatGoDuration(Math.max(0, Math.round(durationMs / 1000)) * 1000);
}
