import { deletionEvents, labelKeys } from "@millwright/core";
import { drainStatusUpdate } from "../drain/drain-status-update.ts";
import { drainNode } from "../drain/drain-node.ts";
import { deletionStart } from "../../model/timeouts.ts";
import { isForceDeletion } from "./force-deletion.ts";
import type { Stage } from "./stage.ts";
import { markNodeTerminating } from "./mark-node-terminating.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** Why there is no node to drain. */
function whyNoDrain({ machine, foreignNode }: MachineSnapshot): string {
  const nodeName = machine.metadata.labels?.[labelKeys.node] ?? "";
  if (foreignNode !== undefined) return deletionEvents.nodeOfAnotherVm(foreignNode.metadata.name);
  return nodeName === "" ? deletionEvents.drainSkipped() : deletionEvents.nodeVanished(nodeName);
}

/** Drains the node. After a forced drain the next stage deletes the volume attachments. */
export const drain: Stage = (snapshot, now) => {
  const { drain: view, machine } = snapshot;
  if (view === undefined) return { next: "DeleteVm", happened: whyNoDrain(snapshot) };
  const isDemanded = isForceDeletion(machine);
  const progress = drainNode(snapshot, { view, startedAt: deletionStart(snapshot), isDemanded, cordon: true }, now);
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
