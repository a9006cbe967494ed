import { arrayAt, at, field, stringAt } from "../json.ts";
import { type Item, keyOfItem, type View } from "./view.ts";

/** The CSI volumes of a pod; undefined while one of its claims is missing or not bound. Other volumes need no attaching. */
export function volumesOf({ claims, volumes }: View, pod: Item): readonly Item[] | undefined {
  const found: Item[] = [];
  for (const entry of arrayAt(pod, "spec", "volumes")) {
    const claimName = stringAt(entry, "persistentVolumeClaim", "claimName");
    if (claimName === undefined) continue;
    const key = `${pod.metadata.namespace ?? ""}/${claimName}`;
    const claim = claims.find((candidate) => keyOfItem(candidate) === key);
    const volumeName = stringAt(claim, "spec", "volumeName");
    const volume = volumes.find((candidate) => candidate.metadata.name === volumeName);
    if (claim === undefined || volume === undefined || stringAt(claim, "status", "phase") !== "Bound") return undefined;
    if (csiDriverOf(volume) !== "") found.push(volume);
  }
  return found;
}

/** The names of the volumes that are attached to a node. */
export function attachedVolumes({ attachments }: View, nodeName: string): ReadonlySet<string> {
  return new Set(
    attachments
      .filter((one) => stringAt(one, "spec", "nodeName") === nodeName && at(one, "status", "attached") === true)
      .flatMap((one) => stringAt(one, "spec", "source", "persistentVolumeName") ?? []),
  );
}

/** The driver of a CSI volume; empty for others. */
export function csiDriverOf(volume: Item): string {
  return stringAt(volume, "spec", "csi", "driver") ?? "";
}

/** A volume as node.status names it: `kubernetes.io/csi/DRIVER^HANDLE`. */
export function uniqueVolumeName(volume: Item): string {
  const handle = field(at(volume, "spec", "csi"), "volumeHandle");
  return `kubernetes.io/csi/${csiDriverOf(volume)}^${typeof handle === "string" ? handle : ""}`;
}
