import { labelKeys, type Machine } from "@millwright/core";
import { type Controller, equalJson, watchTriggers, type EvictionQueue } from "@millwright/kube";
import type { TargetCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { machinesMatching } from "../cluster/node-candidates.ts";
import { nodeIdentityOf } from "../model/pick-node.ts";
import type { Claim, Node, Pod, Volume, VolumeAttachment } from "../model/node-objects.ts";
import type { DrainInterests } from "../drain/drain-interests.ts";
import { claimNames } from "../model/pod-claims.ts";
import type { VolumeIds } from "../drain/volume-ids.ts";
import { isDraining, isLeaving } from "./drain/draining.ts";
import { isSameHealth } from "../model/node-health.ts";

/** What drains read and keep in memory. */
export interface DrainMemory {
  readonly interests: DrainInterests;
  readonly evictions: Pick<EvictionQueue, "forget">;
  readonly volumeIds: Pick<VolumeIds, "forget">;
}

/** The fields of a node that a decision reads, besides its conditions. */
const relevantFields = (node: Node): readonly unknown[] => {
  const { labels, annotations, finalizers, deletionTimestamp } = node.metadata;
  return [node.spec, labels, annotations, finalizers, deletionTimestamp, node.status?.capacity, nodeIdentityOf(node)];
};

/** Ignores heartbeats: only changes of fields that a decision reads enqueue the machine of a node. */
const isRelevantChange = (old: Node | undefined, current: Node | undefined): boolean =>
  old === undefined ||
  current === undefined ||
  !equalJson(relevantFields(old), relevantFields(current)) ||
  !isSameHealth(old.status?.conditions ?? [], current.status?.conditions ?? []);

const hasOtherVolumes = (old: Node | undefined, current: Node | undefined): boolean =>
  !equalJson(old?.status?.volumesAttached, current?.status?.volumesAttached);

/** Enqueues machines when their nodes change, and draining machines when an input of their drain changes. */
export function wireTargetCluster(
  context: Pick<ControllerContext, "caches" | "namespace">,
  target: TargetCaches,
  controller: Pick<Controller, "enqueue">,
  { interests, evictions, volumeIds }: DrainMemory,
): void {
  const { machines } = context.caches;
  const key = ({ metadata }: Machine): string => `${context.namespace}/${metadata.name}`;
  const machinesNamed = (name: string | undefined): string[] =>
    name === undefined ? [] : [`${context.namespace}/${name}`];
  const keysOfNode = (node: Node): string[] => [
    ...machinesMatching(node, context.caches).map(key),
    ...machinesNamed(node.metadata.labels?.[labelKeys.machineName]),
  ];
  const those = (node: Node | undefined, matches: typeof isDraining): string[] =>
    node === undefined
      ? []
      : keysOfNode(node).filter((machineKey) => {
          const machine = machines.store.get(machineKey);
          return machine !== undefined && matches(machine, node);
        });
  // By the node, not only by the label: a machine without the label drains the node that its id or name matches.
  const leaving = (nodeName = ""): string[] => {
    const node = target.nodes.store.get(nodeName);
    if (node !== undefined || nodeName === "") return those(node, isLeaving);
    // The deletion waits for the pods of an absent node.
    return machines.store
      .byIndex("node", nodeName)
      .filter((machine) => isLeaving(machine, undefined))
      .map(key);
  };
  const claimsOf = (pod: Pod): string[] => claimNames(pod).map((name) => `${pod.metadata.namespace ?? ""}/${name}`);

  watchTriggers({ store: target.nodes.store, controller, keys: keysOfNode, when: isRelevantChange });
  watchTriggers({
    store: target.nodes.store,
    controller,
    keys: (node) => those(node, isDraining),
    when: hasOtherVolumes,
  });
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
