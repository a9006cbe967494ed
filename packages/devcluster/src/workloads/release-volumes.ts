import { stringAt } from "../json/json.ts";
import { statusPatch } from "./status-patch.ts";
import { type Action, isDeleting, type View } from "./view.ts";

/** Deletes volumes whose claim was deleted, if their reclaim policy is Delete and they are detached; the others become Released. */
export function releaseVolumes(view: View): readonly Action[] {
  const claims = new Set(view.claims.map(({ metadata }) => metadata.uid));
  const attached = new Set(
    view.attachments.map((attachment) => stringAt(attachment, "spec", "source", "persistentVolumeName") ?? ""),
  );
  return view.volumes.flatMap((volume): readonly Action[] => {
    const uid = stringAt(volume, "spec", "claimRef", "uid") ?? "";
    if (uid === "" || claims.has(uid) || isDeleting(volume)) return [];
    if (stringAt(volume, "status", "phase") !== "Released")
      return statusPatch("volumes", volume, { phase: "Released" });
    const isKept = stringAt(volume, "spec", "persistentVolumeReclaimPolicy") !== "Delete";
    return isKept || attached.has(volume.metadata.name) ? [] : [{ do: "delete", kind: "volumes", item: volume }];
  });
}
