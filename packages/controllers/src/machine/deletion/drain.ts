import { deletionEvents, labelKeys } from "@millwright/core";
import { drainStatusUpdate } from "../drain/drain-status-update.ts";
import { drainNode, drainTerms } from "../drain/drain-node.ts";
import { deletionStart } from "../../model/timeouts.ts";
import { isForceDeletion } from "./force-deletion.ts";
import type { Stage } from "./stage.ts";
import { cordonUnreachable, isUnreachable } from "./unreachable-node.ts";
import { markNodeTerminating } from "./mark-node-terminating.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** Why there is no node to drain. */
function whyNoDrain({ machine, foreignNode }: MachineSnapshot): string {
  const nodeName = machine.metadata.labels?.[labelKeys.node] ?? "";
  if (foreignNode !== undefined) return deletionEvents.nodeOfAnotherVm(foreignNode.metadata.name);
  return nodeName === "" ? deletionEvents.drainSkipped() : deletionEvents.nodeVanished(nodeName);
}

/**
 * Drains the node. After a forced drain the next stage deletes the volume attachments. Nothing of an unreachable node is deleted by force: its VM is deleted first, and Kubernetes releases pods and volumes
 * when that is confirmed. MCM deletes them while the VM may be running (`pkg/util/provider/machinecontroller/machine_util.go` drainNode).
 */
export const drain: Stage = (snapshot, now) => {
  const { drain: view, machine } = snapshot;
  if (view === undefined) return { next: "DeleteVm", happened: whyNoDrain(snapshot) };
  const nodeDrain = { startedAt: deletionStart(snapshot), isDemanded: isForceDeletion(machine), cordon: true };
  const terms = drainTerms(snapshot, view.node, nodeDrain, now);
  if ((terms.mode === "force" || now.getTime() > terms.deadline) && isUnreachable(view.node)) {
    const happened = deletionEvents.nodeUnreachable(view.node.metadata.name);
    return {
      next: "DeleteVm",
      happened,
      actions: [...markNodeTerminating(snapshot, view.node, now), ...cordonUnreachable(view.node)],
    };
  }
  const progress = drainNode(snapshot, { view, ...nodeDrain }, now);
  const actions = [...markNodeTerminating(snapshot, view.node, now), ...progress.actions];
  if (progress.state === "drained") {
    return progress.isForced
      ? { next: "DeleteVolumeAttachments", happened: deletionEvents.forceDrained(), actions }
      : { next: "DeleteVm", happened: deletionEvents.drained(), actions };
  }
  const { message, because, requeueAfterMs } = drainStatusUpdate(snapshot, progress, now);
  return {
    next: "stay",
    actions,
    because,
    requeueAfterMs: Math.min(requeueAfterMs, progress.requeueAfterMs),
    ...(message === undefined ? {} : { happened: message }),
  };
};
