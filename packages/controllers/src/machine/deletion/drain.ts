import { deletionEvents } from "@millwright/core";
import { decideDrain } from "../../drain/decide-drain.ts";
import { drainDeadline } from "../timeouts.ts";
import { isForceDeletion } from "./force-deletion.ts";
import type { Stage } from "./stage.ts";

/** Empties the node. After a forced drain the volume attachments are dealt with in a stage of their own. */
export const drain: Stage = (snapshot, now) => {
  const { node, pods, machine } = snapshot;
  if (node === undefined) return { next: "DeleteVm", happened: deletionEvents.drainSkipped() };
  const mode = isForceDeletion(machine) ? "force" : "normal";
  const progress = decideDrain({ node, pods, deadline: drainDeadline(snapshot), mode, cordon: true }, now);
  const { actions } = progress;
  if (progress.state === "drained") {
    return progress.isForced
      ? { next: "DeleteVolumeAttachments", happened: deletionEvents.forceDrained(), actions }
      : { next: "DeleteVm", happened: deletionEvents.drained(), actions };
  }
  const { message, wakeAfterMs } = progress;
  return { next: "stay", actions, wakeAfterMs, ...(message === undefined ? {} : { happened: message }) };
};
