import { deletionEvents, finalizers } from "@millwright/core";
import { removeFinalizerPatch } from "../../ownership/finalizer-patch.ts";
import type { MachineAction } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { leftoverResources } from "./leftover-resources.ts";
import { markedStage } from "../../model/marked-stage.ts";
import type { Stage } from "./stage.ts";

/** Start of this stage, wall clock in milliseconds. */
const since = (snapshot: MachineSnapshot): number | undefined =>
  markedStage(snapshot) === "DeleteNode"
    ? Date.parse(snapshot.machine.status?.lastOperation?.lastUpdateTime ?? "1970-01-01T00:00:00Z")
    : undefined;

/** Deletes the node object once Kubernetes has released its pods and volumes; other finalizers on the node do not delay the machine. */
export const deleteNode: Stage = (snapshot, now) => {
  const { node } = snapshot;
  if (node === undefined) return { next: "RemoveFinalizer" };
  const { name, uid = "" } = node.metadata;
  const release: readonly MachineAction[] =
    node.metadata.finalizers?.includes(finalizers.node) === true
      ? [{ kind: "PatchNode", name, patch: removeFinalizerPatch(node, finalizers.node) }]
      : [];
  if (node.metadata.deletionTimestamp != null)
    return { next: "RemoveFinalizer", happened: deletionEvents.nodeDeleted(name), actions: release };
  const left = leftoverResources(snapshot, node, since(snapshot), now);
  if (left !== undefined) return { next: "stay", ...left };
  const deletion: MachineAction = { kind: "DeleteNode", name, uid };
  return { next: "RemoveFinalizer", happened: deletionEvents.nodeDeleted(name), actions: [...release, deletion] };
};
