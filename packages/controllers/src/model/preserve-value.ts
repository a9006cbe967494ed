import {
  annotationKeys,
  type Machine,
  preserveValues,
  nodeConditionTypes,
  phaseOf,
  preservedMessages,
  preservedReasons,
} from "@millwright/core/machine-api";
import type { Node } from "./node-objects.ts";
import { conditionOf, type NodeConditionState } from "./node-condition.ts";

/** A supported value of the annotation `preserve`. */
export type PreserveValue = (typeof preserveValues)[keyof typeof preserveValues];

const allowed: readonly PreserveValue[] = Object.values(preserveValues);

const isPreserveValue = (text: string): text is PreserveValue => allowed.some((value) => value === text);

/** The values of the preserve annotations of machine and node. */
export interface PreserveAnnotations {
  /** `preserve` of the machine. */
  readonly machine: string | undefined;
  /** `preserve` of the node; an empty value ends the preservation. */
  readonly node: string | undefined;
  /** The last effective value of the node, as recorded on the machine; empty when there is none. */
  readonly lastApplied: string;
  /** Without a node only the machine's annotation counts. */
  readonly hasNode: boolean;
}

export const preserveAnnotationsOf = ({ metadata }: Machine, node: Node | undefined): PreserveAnnotations => ({
  machine: metadata.annotations?.[annotationKeys.preserve],
  node: node?.metadata.annotations?.[annotationKeys.preserve],
  lastApplied: metadata.annotations?.[annotationKeys.lastAppliedNodePreserveValue] ?? "",
  hasNode: node !== undefined,
});

/** Whether the node's value overrides the machine's: it is set, or was set at the last reconcile. */
export const isNodeInControl = ({ node, lastApplied, hasNode }: PreserveAnnotations): boolean =>
  hasNode && (node !== undefined || lastApplied !== "");

/** The effective value; empty for none, `undefined` for an invalid value of the node, which changes nothing. */
export function preserveValueOf(requested: PreserveAnnotations): PreserveValue | "" | undefined {
  if (isNodeInControl(requested)) {
    const value = requested.node ?? "";
    return value === "" || isPreserveValue(value) ? value : undefined;
  }
  const value = requested.machine ?? "";
  return isPreserveValue(value) ? value : "";
}

/** Whether the annotations request the preservation of a Failed machine. */
export function isToBePreserved(requested: PreserveAnnotations): boolean {
  const value = preserveValueOf(requested);
  return value === preserveValues.now || value === preserveValues.whenFailed || value === preserveValues.autoPreserved;
}

/** Why the effective annotation is invalid, as one sentence; `undefined` when it is valid. */
export function preserveValueProblem(requested: PreserveAnnotations, machineName: string): string | undefined {
  const isOfNode = isNodeInControl(requested);
  const value = (isOfNode ? requested.node : requested.machine) ?? "";
  if (value === "" || isPreserveValue(value)) return undefined;
  const whose = isOfNode ? `the Node of machine ${machineName}` : `machine ${machineName}`;
  // The value is untrusted: its beginning is enough to find it.
  return `Annotation ${annotationKeys.preserve} of ${whose} is ${JSON.stringify(value.slice(0, 63))}, must be one of ${allowed.join(", ")}; ${isOfNode ? "preservation does not change until it is fixed or removed" : "it is ignored"}`;
}

/** Progress of the drain of a preserved machine's node. `none`: the machine is not Failed, its pods stay. */
export type PreservationDrain = "none" | "draining" | "failing" | "drained";

/** The condition of a preserved machine's node. `expiry` as it is in the machine's status. */
export function preservedState(drain: PreservationDrain, value: PreserveValue, expiry: string): NodeConditionState {
  const until = preservedMessages.until(expiry);
  const message =
    drain === "drained"
      ? `${preservedMessages.drained} ${until}`
      : drain === "failing"
        ? `${preservedMessages.notDrained} ${until}`
        : until;
  return {
    type: nodeConditionTypes.preserved,
    status: drain === "failing" ? "False" : "True",
    reason: value === preserveValues.autoPreserved ? preservedReasons.byController : preservedReasons.byUser,
    message,
  };
}

/** The condition after the preservation has ended. */
export const stoppedState: NodeConditionState = {
  type: nodeConditionTypes.preserved,
  status: "False",
  reason: preservedReasons.stopped,
  message: "",
};

/** Whether the condition reports a completed drain of a current preservation. MCM looks for the same text. */
export function isDrainedForPreservation(node: Node | undefined): boolean {
  const { status, message = "" } = conditionOf(node, nodeConditionTypes.preserved) ?? {};
  return status === "True" && message.includes(preservedMessages.drained);
}

/** Whether the condition reports a preservation that has not ended. */
export function isMarkedPreserved(node: Node | undefined): boolean {
  const reason = conditionOf(node, nodeConditionTypes.preserved)?.reason;
  return reason === preservedReasons.byUser || reason === preservedReasons.byController;
}

/** Whether the node of a Failed machine is being drained for its preservation, or must be. */
export const isPreservationDrainDue = (machine: Machine, node: Node | undefined): boolean =>
  phaseOf(machine) === "Failed" &&
  isToBePreserved(preserveAnnotationsOf(machine, node)) &&
  !isDrainedForPreservation(node);
