import type { Stage } from "./stage.ts";

/** Deletes VolumeAttachments after a forced drain, so that other nodes can attach the volumes once the VM is deleted. */
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
