import { type Controller, equalJson, type EvictionQueue, watchTriggers } from "@millwright/kube";
import type { TargetCaches } from "../cluster/caches.ts";
import type { Claim, Node, Pod, Volume, VolumeAttachment } from "../model/node-objects.ts";
import { claimNames } from "../model/pod-claims.ts";
import type { DrainInterests } from "./drain-interests.ts";
import type { VolumeIds } from "./volume-ids.ts";

/** What drains read and keep in memory. */
export interface DrainTriggers {
  readonly interests: DrainInterests;
  readonly evictions: Pick<EvictionQueue, "forget">;
  readonly volumeIds: Pick<VolumeIds, "forget">;
  /** Keys of what drains a Node. */
  readonly draining: (node: Node) => readonly string[];
  /** Keys of what the pods and volumes of a Node matter to: also after the drain. */
  readonly leaving: (nodeName: string | undefined) => readonly string[];
}

const hasOtherVolumes = (old: Node | undefined, current: Node | undefined): boolean =>
  !equalJson(old?.status?.volumesAttached, current?.status?.volumesAttached);

/** Enqueues drains in progress when one of their inputs changes. */
export function wireDrains(
  target: TargetCaches,
  controller: Pick<Controller, "enqueue">,
  { interests, evictions, volumeIds, draining, leaving }: DrainTriggers,
): void {
  const claimsOf = (pod: Pod): string[] => claimNames(pod).map((name) => `${pod.metadata.namespace ?? ""}/${name}`);
  watchTriggers({ store: target.nodes.store, controller, keys: draining, when: hasOtherVolumes });
  watchTriggers({
    store: target.pods.store,
    controller,
    // A pod on another node may use the volume of a drained pod.
    keys: (pod) => [...leaving(pod.spec?.nodeName), ...claimsOf(pod).flatMap((claim) => [...interests.ofClaim(claim)])],
  });
  watchTriggers({
    store: target.attachments.store,
    controller,
    keys: ({ spec }: VolumeAttachment) => [
      ...leaving(spec?.nodeName),
      ...interests.ofVolume(spec?.source?.persistentVolumeName ?? ""),
    ],
  });
  watchTriggers({
    store: target.budgets.store,
    controller,
    keys: ({ metadata }) => interests.inNamespace(metadata.namespace ?? ""),
  });
  watchTriggers({
    store: target.claims.store,
    controller,
    keys: ({ metadata }: Claim) =>
      target.pods.store
        .byIndex("claim", `${metadata.namespace ?? ""}/${metadata.name}`)
        .flatMap((pod) => leaving(pod.spec?.nodeName)),
  });
  target.pods.store.subscribe((old, current) => {
    const uid = old?.metadata.uid;
    if (uid !== undefined && uid !== current?.metadata.uid) evictions.forget(uid);
  });
  target.volumes.store.subscribe((old: Volume | undefined, current) => {
    if (old !== undefined && old.metadata.uid !== current?.metadata.uid) volumeIds.forget(old.metadata.name);
  });
}
