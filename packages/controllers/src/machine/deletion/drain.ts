import { deletionEvents } from "@millwright/core";
import { drainNode } from "../drain-node.ts";
import { deletionStart } from "../timeouts.ts";
import { isForceDeletion } from "./force-deletion.ts";
import type { Stage } from "./stage.ts";

/** Empties the node. After a forced drain the volume attachments are dealt with in a stage of their own. */
export const drain: Stage = (snapshot, now) => {
  const { drain: view, machine } = snapshot;
  if (view === undefined) return { next: "DeleteVm", happened: deletionEvents.drainSkipped() };
  const isDemanded = isForceDeletion(machine);
  const progress = drainNode(snapshot, { view, startedAt: deletionStart(snapshot), isDemanded, cordon: true }, now);
  const { actions } = progress;
  if (progress.state === "drained") {
    return progress.isForced
      ? { next: "DeleteVolumeAttachments", happened: deletionEvents.forceDrained(), actions }
      : { next: "DeleteVm", happened: deletionEvents.drained(), actions };
  }
  const { message, wakeAfterMs } = progress;
  return { next: "stay", actions, wakeAfterMs, ...(message === undefined ? {} : { happened: message }) };
};
