import { arrayAt, at, field, stringAt } from "../json/json.ts";
import { type Item, keyOfItem, type View } from "./view.ts";

/**
 * The CSI volumes of a pod; undefined while one of its claims is missing or not bound. Other volumes are not attached.
 */
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

/** The name of a volume in node.status: `kubernetes.io/csi/DRIVER^HANDLE`. */
export function uniqueVolumeName(volume: Item): string {
  const handle = field(at(volume, "spec", "csi"), "volumeHandle");
  return `kubernetes.io/csi/${csiDriverOf(volume)}^${typeof handle === "string" ? handle : ""}`;
}

/** Whether a claim is bound only when a pod that uses it has a node (WaitForFirstConsumer). */
export function waitsForConsumer({ storageClasses }: View, claim: Item): boolean {
  const name = stringAt(claim, "spec", "storageClassName") ?? "";
  const storageClass = storageClasses.find(({ metadata }) => metadata.name === name);
  return stringAt(storageClass, "volumeBindingMode") === "WaitForFirstConsumer";
}

/** The keys of the claims that a pod uses. */
export function claimKeysOf(pod: Item): readonly string[] {
  return arrayAt(pod, "spec", "volumes").flatMap((entry) => {
    const name = stringAt(entry, "persistentVolumeClaim", "claimName");
    return name === undefined ? [] : [`${pod.metadata.namespace ?? ""}/${name}`];
  });
}

/** Why a pod's claims make it unschedulable, in the words of kube-scheduler; undefined when they do not. */
export function claimProblem(view: View, pod: Item): string | undefined {
  for (const key of claimKeysOf(pod)) {
    const claim = view.claims.find((candidate) => keyOfItem(candidate) === key);
    if (claim === undefined)
      return `persistentvolumeclaim ${JSON.stringify(key.slice(key.indexOf("/") + 1))} not found`;
    if (stringAt(claim, "status", "phase") !== "Bound" && !waitsForConsumer(view, claim)) {
      return "pod has unbound immediate PersistentVolumeClaims";
    }
  }
  return undefined;
}
