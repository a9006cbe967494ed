import { deletionEvents, finalizers } from "@millwright/core";
import { removeFinalizerPatch } from "../../ownership/finalizer-patch.ts";
import type { MachineAction } from "../decision.ts";
import type { Stage } from "./stage.ts";

/** Deletes the node object; once the API server has accepted that, the machine need not wait for other finalizers on it. */
export const deleteNode: Stage = ({ node }) => {
  if (node === undefined) return { next: "RemoveFinalizer" };
  const { name, uid = "" } = node.metadata;
  const release: readonly MachineAction[] =
    node.metadata.finalizers?.includes(finalizers.node) === true
      ? [{ kind: "PatchNode", name, patch: removeFinalizerPatch(node, finalizers.node) }]
      : [];
  if (node.metadata.deletionTimestamp != null)
    return { next: "RemoveFinalizer", happened: deletionEvents.nodeDeleted(name), actions: release };
  return { next: "stay", actions: [...release, { kind: "DeleteNode", name, uid }] };
};
