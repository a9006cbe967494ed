import {
  finalizers,
  machineEventReasons,
  type MachineStatus,
  severalNodes,
  severalNodesConditionType,
} from "@millwright/core/machine-api";
import { findCondition, removeCondition, removeFinalizerPatch, setCondition } from "@millwright/kube";
import type { Reason } from "../../model/decision.ts";
import { isReadyNode } from "../../model/node-condition.ts";
import { type MachineAction, type MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** The message that names all nodes of a VM; `undefined` for one. */
function messageOf({ machine, node, otherNodes = [] }: MachineSnapshot): string | undefined {
  if (node === undefined || otherNodes.length === 0) return undefined;
  const others = otherNodes.map(({ node: { metadata } }) => metadata.name).toSorted();
  return severalNodes(machine.spec.providerID ?? "", node.metadata.name, others);
}

const storedMessage = ({ conditions }: MachineStatus): string | undefined =>
  findCondition(conditions, severalNodesConditionType)?.message;

/** The status with the condition while the VM has several nodes. */
export function withSeveralNodes(status: MachineStatus, snapshot: MachineSnapshot, now: Date): MachineStatus {
  const message = messageOf(snapshot);
  if (message === storedMessage(status)) return status;
  const before = status.conditions ?? [];
  if (message === undefined) return { ...status, conditions: removeCondition(before, severalNodesConditionType) };
  const state = { type: severalNodesConditionType, status: "True", reason: "SeveralNodes", message } as const;
  return { ...status, conditions: setCondition(before, state, { now }) };
}

/** The event with the same message, once. */
export function severalNodesEvents(status: MachineStatus, snapshot: MachineSnapshot): readonly Reason[] {
  const message = messageOf(snapshot);
  if (message === undefined || message === storedMessage(status)) return [];
  return [{ type: "Warning", reason: machineEventReasons.severalNodes, message }];
}

/** Lets a node go that is out of use and that a user deletes: it has our finalizer from when it counted. */
export function releaseOtherNodes({ otherNodes = [] }: MachineSnapshot): MachineDecision {
  const deleted = otherNodes.filter(
    ({ node }) =>
      node.metadata.deletionTimestamp != null &&
      node.metadata.finalizers?.includes(finalizers.node) === true &&
      !isReadyNode(node),
  );
  const actions = deleted.map(({ node }): MachineAction => ({
    kind: "PatchNode",
    name: node.metadata.name,
    patch: removeFinalizerPatch(node, finalizers.node),
  }));
  return { actions, because: [] };
}
