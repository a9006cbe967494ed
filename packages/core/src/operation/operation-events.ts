import { formatGoDuration } from "@millwright/base";
import type { MachineErrorCode } from "../driver/machine-error-code.ts";
import { encodeMachineError } from "../driver/machine-error-text.ts";
import type { DeletionStage } from "../wire/deletion-stages.ts";
import * as texts from "../wire/operation-texts.ts";
import type {
  DeletionHold,
  DrainCause,
  OperationAttempts,
  OperationDetails,
  RemediationHold,
} from "./operation-details.ts";

/** A failed driver call, as the last operation reports it. */
export type FailureEvent = {
  readonly code: MachineErrorCode;
  /** The words with which the failure was first reported: another attempt may have another request id. */
  readonly message: string;
  /** Absent until attempts are reported. */
  readonly attempts?: OperationAttempts;
  /** Whether the call was not made, since its credential is refused. Default: false. */
  readonly heldBack?: boolean;
} & (
  | { readonly reason: "CreationFailed" | "InitializationFailed" | "VmDeletionRetried" | "VmDeletionAborted" }
  /** Another machine of the class retries first. */
  | { readonly reason: "WaitingForClass"; readonly className: string }
  | { readonly reason: "StaleVmNotDeleted"; readonly nodeName: string }
  /** `isBeyondDriver`: only a person can help. Default: false. */
  | { readonly reason: "VmLookUpFailed"; readonly isBeyondDriver?: boolean }
);

/** What holds a remediation back, with what its text names: the group of the budget, and what is wrong with its limit. */
export interface HoldEvent extends RemediationHold {
  readonly group?: string;
  readonly note?: string | undefined;
}

/** What a last operation reports. A plain text is for people only: nothing depends on it. */
export type OperationEvent =
  | string
  | FailureEvent
  /** Accepted and in progress. `message`: the driver's. */
  | { readonly reason: "ProvisioningVm" | "VmDeletionPending"; readonly message: string }
  /** `text`: all of it. */
  | { readonly reason: "ClassUnusable" | "SecretNotFound" | "WriteRefused"; readonly text: string }
  /** DeletionHeld: by the deletion budget. Without `deletionHold` it ends by itself. */
  | {
      readonly reason: "DeletionHeld" | "DeletionPaused";
      readonly text: string;
      readonly deletionHold?: DeletionHold | undefined;
    }
  | { readonly reason: "Draining"; readonly text: string; readonly causes: readonly DrainCause[] }
  | { readonly reason: "Drained" | "ForceDrained" | "VmDeleted" | "VmNotFound" }
  | { readonly reason: "VolumesAttached"; readonly nodeName: string; readonly volumes: readonly string[] }
  /** The drain was skipped. */
  | { readonly reason: "NodeUnreachable"; readonly nodeName: string }
  /** The Node does not exist. The drain was skipped, until the Node is back. */
  | { readonly reason: "NodeVanished"; readonly nodeName: string }
  /** A note after another event: what is on the unreachable Node waits for the deletion of the VM. */
  | { readonly reason: "PodsHeldBack"; readonly nodeName: string }
  /** The timeout of a machine has passed, and it is not replaced. */
  | {
      readonly reason: "JoinOnHold" | "RemediationOnHold";
      readonly machine: string;
      readonly timeoutMs: number;
      readonly hold: HoldEvent;
    }
  | { readonly reason: "JoinUnknown"; readonly machine: string }
  | { readonly reason: "NodeMissing"; readonly machine: string; readonly nodeName: string };

/** One event, or several that are reported one after another. */
export type OperationEvents = OperationEvent | readonly OperationEvent[];

const isList = (events: OperationEvents): events is readonly OperationEvent[] => Array.isArray(events);

const listOf = (events: OperationEvents): readonly OperationEvent[] => (isList(events) ? events : [events]);

const isFailure = (event: OperationEvent): event is FailureEvent => typeof event === "object" && "code" in event;

/** The text of a hold: the end of a description, and of conditions. */
export function holdText({ by, zone = "", group = "", note }: HoldEvent): string {
  const { gate, gateWithNote, outage, zoneOutage, unreachable } = texts.remediationHolds;
  switch (by) {
    case "Budget":
      return note === undefined ? gate(group) : gateWithNote(group, note);
    case "Outage":
      return outage();
    case "ZoneOutage":
      return zoneOutage(zone);
    case "ApiServerUnreachable":
      return unreachable();
  }
}

/** The text of a failure, without its attempts. */
function failureText(event: FailureEvent): string {
  const error = encodeMachineError(event);
  const { deletionEvents } = texts;
  switch (event.reason) {
    case "CreationFailed":
      return texts.providerMessage(error);
    case "InitializationFailed":
      return texts.initializeFailed(error);
    case "WaitingForClass":
      return texts.waitingForClass(event.className, error);
    case "StaleVmNotDeleted":
      return texts.staleVmNotDeleted(event.nodeName, error);
    case "VmLookUpFailed":
      return deletionEvents.vmLookUpFailed(error, event.isBeyondDriver);
    case "VmDeletionRetried":
      return deletionEvents.vmDeletionRetried(error);
    case "VmDeletionAborted":
      return deletionEvents.vmDeletionAborted(error);
  }
}

/** True until it is written again, also when others have followed, or wait for those of other machines of the class. */
const attemptsText = ({ count, lastTime, firstTime, pauseSeconds }: OperationAttempts): string =>
  ` (attempt ${count} failed at ${lastTime}, the first at ${firstTime}; the next after ${formatGoDuration(pauseSeconds * 1000)} or more)`;

function textOf(event: OperationEvent): string {
  if (typeof event === "string") return event;
  if (isFailure(event)) return failureText(event) + (event.attempts === undefined ? "" : attemptsText(event.attempts));
  const { deletionEvents } = texts;
  switch (event.reason) {
    case "ProvisioningVm":
      return texts.provisioningVm(event.message);
    case "VmDeletionPending":
      return deletionEvents.vmDeletionPending(event.message);
    case "ClassUnusable":
    case "DeletionHeld":
    case "DeletionPaused":
    case "Draining":
    case "SecretNotFound":
    case "WriteRefused":
      return event.text;
    case "Drained":
      return deletionEvents.drained();
    case "ForceDrained":
      return deletionEvents.forceDrained();
    case "VmDeleted":
      return deletionEvents.vmDeleted();
    case "VmNotFound":
      return deletionEvents.vmNotFound();
    case "VolumesAttached":
      return deletionEvents.drainedWithVolumes(event.nodeName, event.volumes);
    case "NodeUnreachable":
      return deletionEvents.nodeUnreachable(event.nodeName);
    case "NodeVanished":
      return deletionEvents.nodeVanished(event.nodeName);
    case "PodsHeldBack":
      return deletionEvents.heldBack(event.nodeName);
    case "JoinOnHold":
      return texts.joinOnHold(event.machine, event.timeoutMs, holdText(event.hold));
    case "RemediationOnHold":
      return texts.remediationOnHold(event.machine, event.timeoutMs, holdText(event.hold));
    case "JoinUnknown":
      return texts.joinUnknown(event.machine);
    case "NodeMissing":
      return texts.nodeMissing(event.machine, event.nodeName);
  }
}

/** The texts of events without the attempts of calls, for messages that are the same for each attempt. */
export const eventsText = (events: OperationEvents): string =>
  listOf(events)
    .map((event) => (isFailure(event) ? failureText(event) : textOf(event)))
    .join(". ");

/**
 * The description of a last operation. All descriptions that Millwright writes are made here; what depends on one reads {@link readOperation}.
 *
 * @param stage the stage of a deletion that runs next: its marker, which MCM reads, is the end
 */
export function renderOperation(events: OperationEvents, stage?: DeletionStage): string {
  const text = listOf(events).map(textOf).join(". ");
  return stage === undefined ? text : texts.continueWith(stage, text);
}

/** What is stored of an event. */
function factsOf(event: OperationEvent): OperationDetails {
  if (typeof event === "string") return {};
  if (event.reason === "PodsHeldBack" || event.reason === "NodeVanished") return { unreachableNode: event.nodeName };
  const { reason } = event;
  if (isFailure(event)) {
    const { code, message, attempts, heldBack } = event;
    const optional = { ...(attempts === undefined ? {} : { attempts }), ...(heldBack === true ? { heldBack } : {}) };
    return { reason, code, message, ...optional };
  }
  switch (event.reason) {
    case "ProvisioningVm":
    case "VmDeletionPending":
      return { reason, message: event.message };
    case "Draining":
      return { reason, causes: event.causes };
    case "VolumesAttached": {
      const { nodeName } = event;
      const volumes = event.volumes.slice(0, texts.NAMED_VOLUMES);
      const others = event.volumes.length - volumes.length;
      return { reason, nodeName, volumes, ...(others > 0 ? { otherVolumes: others } : {}) };
    }
    case "NodeUnreachable":
      return { reason, unreachableNode: event.nodeName };
    case "JoinOnHold":
    case "RemediationOnHold": {
      const { by, zone } = event.hold;
      return { reason, hold: by, ...(zone === undefined ? {} : { zone }) };
    }
    case "NodeMissing":
      return { reason, nodeName: event.nodeName };
    case "DeletionHeld":
    case "DeletionPaused":
      return { reason, ...(event.deletionHold === undefined ? {} : { deletionHold: event.deletionHold }) };
    case "ClassUnusable":
    case "Drained":
    case "ForceDrained":
    case "JoinUnknown":
    case "SecretNotFound":
    case "VmDeleted":
    case "VmNotFound":
    case "WriteRefused":
      return { reason };
  }
}

/** What is stored of events, beside their description; `undefined` where nothing depends on them. Of several events the first decides. */
export function detailsOf(events: OperationEvents, stage?: DeletionStage): OperationDetails | undefined {
  const facts = listOf(events).map(factsOf).toReversed();
  const details: OperationDetails = Object.assign({}, ...facts, stage === undefined ? {} : { stage });
  return Object.keys(details).length === 0 ? undefined : details;
}

/** The result of a completed drain that was not forced, as its description begins; `undefined` for anything else. */
export function drainResult({
  reason,
  nodeName = "",
  volumes = [],
  otherVolumes,
}: OperationDetails): string | undefined {
  if (reason === "Drained") return texts.deletionEvents.drained();
  return reason === "VolumesAttached"
    ? texts.deletionEvents.drainedWithVolumes(nodeName, volumes, otherVolumes)
    : undefined;
}
