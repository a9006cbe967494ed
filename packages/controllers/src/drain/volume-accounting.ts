import { claimNames } from "../model/pod-claims.ts";
import type { Claim, Node, Pod, Volume, VolumeAttachment } from "../model/node-objects.ts";

/** A volume that a pod uses by a claim. */
export interface TrackedVolume {
  /** Name of the PersistentVolume. */
  readonly name: string;
  /** Namespace and name of the claim. */
  readonly claim: string;
  /** Its id in the infrastructure; absent when neither the driver nor the volume has one. */
  readonly volumeId?: string;
}

/** Looks up volumes in caches. */
export interface VolumeLookup {
  readonly claim: (namespace: string, name: string) => Claim | undefined;
  readonly volume: (name: string) => Volume | undefined;
  /** The driver's id of a volume, `null` for a volume of another infrastructure, `undefined` when it is unknown. */
  readonly volumeId: (name: string) => string | null | undefined;
}

/**
 * The volumes to detach with a pod. A missing claim or volume, an unbound claim and a volume of another infrastructure
 * (such as NFS) do not delay a drain. Each volume is listed once, even when two claims of the pod refer to it.
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

/** Where volumes are attached. */
export interface Attachments {
  readonly isAttachedHere: (volume: TrackedVolume) => boolean;
  readonly isAttachedElsewhere: (volume: TrackedVolume) => boolean;
}

/**
 * Reads whether volumes are attached to these nodes, level-based: from VolumeAttachments and the status of the nodes. Ids are compared for equality: as a substring `vol-1` would match
 * `vol-12`.
 *
 * @param attachmentsOf VolumeAttachments of a PersistentVolume, on any node
 */
export function createAttachments(
  nodes: readonly Node[],
  attachmentsOf: (volumeName: string) => readonly VolumeAttachment[],
): Attachments {
  const names = new Set<string | undefined>(nodes.map(({ metadata }) => metadata.name));
  const reported = new Set(
    nodes.flatMap(({ status }) => status?.volumesAttached ?? []).map(({ name }) => idOfAttached(name)),
  );
  return {
    isAttachedHere: ({ name, volumeId }) =>
      attachmentsOf(name).some(({ spec }) => names.has(spec?.nodeName)) ||
      (volumeId !== undefined && reported.has(volumeId)),
    isAttachedElsewhere: ({ name }) =>
      attachmentsOf(name).some(({ spec, status }) => !names.has(spec?.nodeName) && status?.attached === true),
  };
}
