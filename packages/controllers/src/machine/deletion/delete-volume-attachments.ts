import type { Stage } from "./stage.ts";

/** Deletes what a forced drain left attached, so that volumes are free for other nodes once the VM is gone. */
export const deleteVolumeAttachments: Stage = ({ node, attachments }) => {
  const left = attachments.filter(({ metadata }) => metadata.deletionTimestamp == null);
  if (node === undefined || left.length === 0) return { next: "DeleteVm" };
  return {
    next: "DeleteVm",
    actions: left.map(({ metadata }) => ({
      kind: "DeleteVolumeAttachment",
      name: metadata.name,
      uid: metadata.uid ?? "",
    })),
  };
};
