import type { OperationEvent } from "@millwright/core/machine-api";
import type { DrainAction } from "../../drain/drain-action.ts";
import { deletionStart } from "../../model/timeouts.ts";
import type { Node } from "../../model/node-objects.ts";
import { drainRulesOf } from "../drain/drain-rules.ts";
import { isUnreachable } from "../drain/force-drain.ts";
import { hasStayingPods } from "./leftover-resources.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** Keeps new pods off the node, if it accepts that. */
export const cordonUnreachable = (node: Node): readonly DrainAction[] =>
  node.spec?.unschedulable === true
    ? []
    : [{ kind: "PatchNode", name: node.metadata.name, patch: { spec: { unschedulable: true } }, mayFail: true }];

/**
 * What is held back while the VM of an unreachable node is not deleted, as a note; `undefined` for nothing. Pods that are deleted by force, and volumes that are detached, start again elsewhere:
 * with those of the VM there would be two writers (Kubernetes documents, "Non-graceful node shutdown").
 */
export function heldBack(snapshot: MachineSnapshot, now: Date): OperationEvent | undefined {
  const { node, attachments } = snapshot;
  if (node === undefined || !isUnreachable(node)) return undefined;
  if (attachments.length === 0 && !hasStayingPods(snapshot, node, [], now.getTime(), now)) return undefined;
  return { reason: "PodsHeldBack", nodeName: node.metadata.name };
}

/** Whether pods that a drain waits for are on a node that terminates pods. Those that were deleted while it was unreachable have their grace period only from now on. */
export function hasUndrainedPods(snapshot: MachineSnapshot, node: Node, now: Date): boolean {
  const { machine, classView } = snapshot;
  const machineClass = classView.state === "usable" ? classView.machineClass.metadata : undefined;
  const { rules } = drainRulesOf(machine.metadata, machineClass);
  return !isUnreachable(node) && hasStayingPods(snapshot, node, rules, deletionStart(snapshot), now);
}
