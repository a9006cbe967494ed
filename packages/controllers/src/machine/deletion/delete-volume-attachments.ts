import type { Stage } from "./stage.ts";
import { isUnreachable } from "./unreachable-node.ts";

/** Deletes VolumeAttachments after a forced drain, so that other nodes can attach the volumes once the VM is deleted. */
export const deleteVolumeAttachments: Stage = ({ node, attachments }) => {
  const left = attachments.filter(({ metadata }) => metadata.deletionTimestamp == null);
  // MCM may have left the deletion at this stage. The VM of an unreachable node may still write to the volumes.
  if (node === undefined || left.length === 0 || isUnreachable(node)) return { next: "DeleteVm" };
  return {
    next: "DeleteVm",
    actions: left.map(({ metadata }) => ({
      kind: "DeleteVolumeAttachment",
      name: metadata.name,
      uid: metadata.uid ?? "",
    })),
  };
};
