import { createHash } from "node:crypto";
import { arrayAt, at, field, type JsonObject, stringAt } from "../json/json.ts";
import { isNamed, faultsOfKinds } from "../cluster-faults/cluster-faults.ts";
import { isTrue } from "../objects/conditions.ts";
import { isOutOfService } from "./kubelets.ts";
import { csiDriverOf, uniqueVolumeName, volumesOf } from "./pod-volumes.ts";
import { isFinished, nodeNameOf } from "./pod-state.ts";
import { statusPatch } from "./status-patch.ts";
import { type Action, isDeleting, type Item, podEvent, type View } from "./view.ts";

const attacher = "attachdetach-controller";

/**
 * A volume is detached by force when the kubelet has not unmounted it for this long. Source: kube-controller-manager, 6 minutes.
 */
const maxWaitForUnmountMs = 360_000;

/** How long attaching and detaching a volume take. */
export interface VolumeTimes {
  readonly attachDelayMs: number;
  readonly detachDelayMs: number;
}

/**
 * Does the work of the attach-detach controller, the CSI attachers and the kubelets' volume managers: a VolumeAttachment for
 * each CSI volume that pods of a node use, attached after a delay and deleted with the last of those pods, and `volumesInUse`
 * and `volumesAttached` in the status of the node.
 */
export function attachVolumes(view: View, times: VolumeTimes): readonly Action[] {
  const inUse = new Map<string, Map<string, Item>>();
  for (const pod of view.pods) {
    const node = nodeNameOf(pod);
    if (node === "" || isFinished(pod)) continue;
    const ofNode = inUse.get(node) ?? new Map<string, Item>();
    for (const volume of volumesOf(view, pod) ?? []) ofNode.set(volume.metadata.name, volume);
    inUse.set(node, ofNode);
  }
  const known = new Set(view.attachments.map(placeOf));
  const missing = [...inUse].flatMap(([node, volumes]) =>
    [...volumes.values()]
      .filter((volume) => !known.has(`${volume.metadata.name} ${node}`))
      .flatMap((volume) => attach(view, volume, node)),
  );
  const advanced = view.attachments.flatMap((attachment): readonly Action[] => {
    const node = stringAt(attachment, "spec", "nodeName") ?? "";
    const volume = stringAt(attachment, "spec", "source", "persistentVolumeName") ?? "";
    const isUsed = inUse.get(node)?.has(volume) === true;
    return advance(view, attachment, isUsed, times);
  });
  return [...missing, ...advanced, ...view.nodes.flatMap((node) => reportVolumes(view, node, inUse))];
}

/** Volumes for a single node are attached after they are detached from the previous node. */
function attach(view: View, volume: Item, node: string): readonly Action[] {
  const { name } = volume.metadata;
  const isShared = arrayAt(volume, "spec", "accessModes").some(
    (mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany",
  );
  const elsewhere = view.attachments.some((one) => stringAt(one, "spec", "source", "persistentVolumeName") === name);
  if (isShared || !elsewhere) return [{ do: "create", kind: "attachments", object: newAttachment(volume, node) }];
  const message = `Multi-Attach error for volume "${name}" Volume is already exclusively attached to one node and can't be attached to another`;
  const events = usersOf(view, volume, node).map((pod) =>
    podEvent(pod, attacher, "FailedAttachVolume", message, "Warning"),
  );
  return view.isNew(`multi-attach/${name}/${node}`) ? [{ do: "record", events }] : [];
}

function usersOf(view: View, volume: Item, node: string): readonly Item[] {
  return view.pods.filter(
    (pod) => nodeNameOf(pod) === node && !isFinished(pod) && volumesOf(view, pod)?.includes(volume) === true,
  );
}

/** Whether a volume may be detached: its kubelet has unmounted it, or is unreachable. */
function isReleased(view: View, volume: Item | undefined, nodeName: string): boolean {
  const node = view.nodes.find(({ metadata }) => metadata.name === nodeName);
  if (volume === undefined || node === undefined || isOutOfService(node)) return true;
  if (!arrayAt(node, "status", "volumesInUse").includes(uniqueVolumeName(volume))) return true;
  return view.due(`unmount/${volume.metadata.uid}/${nodeName}`, maxWaitForUnmountMs);
}

function advance(view: View, attachment: Item, isUsed: boolean, times: VolumeTimes): readonly Action[] {
  const { uid } = attachment.metadata;
  const nodeName = stringAt(attachment, "spec", "nodeName") ?? "";
  const volumeName = stringAt(attachment, "spec", "source", "persistentVolumeName") ?? "";
  const volume = view.volumes.find(({ metadata }) => metadata.name === volumeName);
  const isStuck = (kind: "never-detaches" | "never-attaches"): boolean =>
    faultsOfKinds(view.faults, kind).some(
      ({ nodes, volumes }) => isNamed(nodes, nodeName) && isNamed(volumes, volumeName),
    );
  const finalizer = finalizerOf(stringAt(attachment, "spec", "attacher") ?? "");
  const finalizers = arrayAt(attachment, "metadata", "finalizers");
  // Attachments of other programs do not have this finalizer and are ignored.
  if (!finalizers.includes(finalizer)) return [];
  if (isDeleting(attachment)) {
    if (isStuck("never-detaches") || !view.due(`detach/${uid}`, times.detachDelayMs)) return [];
    const left = finalizers.filter((name) => name !== finalizer);
    return [{ do: "patch", kind: "attachments", item: attachment, patch: { metadata: { finalizers: left } } }];
  }
  if (!isUsed) {
    return isReleased(view, volume, nodeName) ? [{ do: "delete", kind: "attachments", item: attachment }] : [];
  }
  if (at(attachment, "status", "attached") === true || isStuck("never-attaches")) return [];
  if (!view.due(`attach/${uid}`, times.attachDelayMs)) return [];
  const message = `AttachVolume.Attach succeeded for volume "${volumeName}"`;
  const users = volume === undefined ? [] : usersOf(view, volume, nodeName);
  const events = users.map((pod) => podEvent(pod, attacher, "SuccessfulAttachVolume", message));
  return statusPatch("attachments", attachment, { attached: true }).map((patch) => ({ ...patch, events }));
}

function reportVolumes(
  view: View,
  node: Item,
  inUse: ReadonlyMap<string, ReadonlyMap<string, Item>>,
): readonly Action[] {
  const { name } = node.metadata;
  const used = [...(inUse.get(name)?.values() ?? [])].map(uniqueVolumeName).toSorted();
  const attached = view.attachments
    .filter((one) => stringAt(one, "spec", "nodeName") === name && at(one, "status", "attached") === true)
    .flatMap((one) => {
      const volumeName = stringAt(one, "spec", "source", "persistentVolumeName");
      const volume = view.volumes.find((candidate) => candidate.metadata.name === volumeName);
      return volume === undefined ? [] : [{ name: uniqueVolumeName(volume), devicePath: "" }];
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const wanted = {
    // The kubelet reports volumesInUse: when it has stopped, that stays as it was.
    ...(isTrue(node, "Ready") && hasChanged(node, "volumesInUse", used.length) ? { volumesInUse: used } : {}),
    ...(hasChanged(node, "volumesAttached", attached.length) ? { volumesAttached: attached } : {}),
  };
  return statusPatch("nodes", node, wanted);
}

/** A missing field that would be empty stays missing. */
function hasChanged(node: Item, key: string, count: number): boolean {
  return count > 0 || field(at(node, "status"), key) !== undefined;
}

function newAttachment(volume: Item, nodeName: string): JsonObject {
  const attacher = csiDriverOf(volume);
  const hash = createHash("sha256")
    .update(`${uniqueVolumeName(volume)}${nodeName}`)
    .digest("hex");
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: `csi-${hash}`, finalizers: [finalizerOf(attacher)] },
    spec: { attacher, nodeName, source: { persistentVolumeName: volume.metadata.name } },
  };
}

/** The finalizer by which an external attacher keeps an attachment until the volume is detached. */
function finalizerOf(attacher: string): string {
  return `external-attacher/${attacher.replaceAll(".", "-")}`;
}

function placeOf(attachment: Item): string {
  const volume = stringAt(attachment, "spec", "source", "persistentVolumeName") ?? "";
  return `${volume} ${stringAt(attachment, "spec", "nodeName") ?? ""}`;
}
