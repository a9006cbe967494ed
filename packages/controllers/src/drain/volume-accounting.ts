import { claimNames } from "../model/pod-claims.ts";
import type { Claim, Node, Pod, Volume, VolumeAttachment } from "../model/node-objects.ts";

/** A volume that a pod uses by a claim. Name and id travel together, so that they cannot be mixed up. */
export interface TrackedVolume {
  /** Name of the PersistentVolume. */
  readonly name: string;
  /** Namespace and name of the claim. */
  readonly claim: string;
  /** What the infrastructure calls it; absent when neither the driver nor the volume says. */
  readonly volumeId?: string;
}

/** Where a drain looks volumes up; all of it from caches. */
export interface VolumeLookup {
  readonly claim: (namespace: string, name: string) => Claim | undefined;
  readonly volume: (name: string) => Volume | undefined;
  /** The driver's answer for a volume: its id, `null` for a volume that is not of this infrastructure, `undefined` when it was not asked. */
  readonly volumeId: (name: string) => string | null | undefined;
}

/**
 * The volumes of a pod that have to leave the node with it. A claim or volume that does not exist, an unbound claim and a volume that is not of this infrastructure
 * (such as NFS) hold nothing up. Each volume comes once, also when two claims of the pod lead to it.
 */
export function volumesOf(pod: Pod, lookup: VolumeLookup): readonly TrackedVolume[] {
  const namespace = pod.metadata.namespace ?? "";
  const tracked = claimNames(pod).flatMap((claimName): readonly TrackedVolume[] => {
    const name = lookup.claim(namespace, claimName)?.spec?.volumeName ?? "";
    const volume = name === "" ? undefined : lookup.volume(name);
    const answer = lookup.volumeId(name);
    if (volume === undefined || answer === null) return [];
    const volumeId = answer ?? volume.spec?.csi?.volumeHandle;
    return [{ name, claim: `${namespace}/${claimName}`, ...(volumeId === undefined ? {} : { volumeId }) }];
  });
  return [...new Map(tracked.map((each) => [each.name, each])).values()];
}

/** The id in the name of an attached volume: `kubernetes.io/csi/<driver>^<id>`; other plug-ins end with it after a slash. */
function idOfAttached(name: string): string {
  const hat = name.indexOf("^");
  return hat >= 0 ? name.slice(hat + 1) : name.slice(name.lastIndexOf("/") + 1);
}

/** What tells whether a volume is still attached to the node. */
export interface Attachments {
  readonly isAttachedHere: (volume: TrackedVolume) => boolean;
  readonly isAttachedElsewhere: (volume: TrackedVolume) => boolean;
}

/**
 * Looks at where volumes are attached, by level: VolumeAttachments and what the node reports. Ids are compared for equality: as a part or a pattern `vol-1` would also be
 * `vol-12`.
 *
 * @param attachmentsOf VolumeAttachments of a PersistentVolume, on any node
 */
export function createAttachments(
  node: Node,
  attachmentsOf: (volumeName: string) => readonly VolumeAttachment[],
): Attachments {
  const reported = new Set((node.status?.volumesAttached ?? []).map(({ name }) => idOfAttached(name)));
  return {
    isAttachedHere: ({ name, volumeId }) =>
      attachmentsOf(name).some(({ spec }) => spec?.nodeName === node.metadata.name) ||
      (volumeId !== undefined && reported.has(volumeId)),
    isAttachedElsewhere: ({ name }) =>
      attachmentsOf(name).some(
        ({ spec, status }) => spec?.nodeName !== node.metadata.name && status?.attached === true,
      ),
  };
}
