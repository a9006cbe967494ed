import { compareResourceVersions, type Informer } from "@millwright/kube";
import type { Node, Pod } from "../model/node-objects.ts";

/**
 * How far the known pods of a node may be trusted. `complete`: they include every pod that was bound before the cordon. `unconfirmed`: a pod that was bound just before the
 * cordon may be missing. `disconnected`: as long as the cache of pods has no connection with the API server.
 */
export type KnownPods = "complete" | "unconfirmed" | "disconnected";

/** What is read of the cache of pods. */
export type PodCache = Pick<Informer<Pod>, "resourceVersion" | "isCurrent" | "connectivity">;

/**
 * Knows of each drain whether the cache of pods is newer than the cordon. The resource versions of Nodes and Pods are compared, which are revisions of the same etcd; where they are not
 * numbers, only a list of the node's pods confirms it. Kept in memory only: after a restart the cache is new.
 */
export type PodKnowledge = ReturnType<typeof createPodKnowledge>;

/** A cordoned node that is being drained. */
interface Cordon {
  readonly nodeUid: string | undefined;
  readonly nodeName: string;
  /** Of the node, when it was first seen cordoned. Its later versions would delay the comparison. */
  readonly resourceVersion: string | undefined;
  isConfirmed: boolean;
}

/** So long the cache may be without a connection and a list is requested all the same: watches that end again and again must not stop a drain. Milliseconds. */
const SHORT_LOSS_MS = 10_000;

/** Makes a {@link PodKnowledge} of no drain. */
export function createPodKnowledge(pods: PodCache) {
  const cordons = new Map<string, readonly Cordon[]>();
  return {
    of(machine: string, { metadata, spec }: Node): KnownPods {
      const cordon = cordons.get(machine)?.find(({ nodeUid }) => nodeUid === metadata.uid);
      // No pod is bound after the cordon, so a list stays complete while watches end again and again.
      const isCordoned = spec?.unschedulable === true;
      if (isCordoned && cordon?.isConfirmed === true && pods.isCurrent()) return "complete";
      const lostForMs = pods.connectivity.lostForMs();
      if (lostForMs > SHORT_LOSS_MS || !pods.isCurrent()) return "disconnected";
      if (!isCordoned || lostForMs > 0) return "unconfirmed";
      const since = (cordon ?? metadata).resourceVersion;
      return (compareResourceVersions(pods.resourceVersion(), since) ?? -1) >= 0 ? "complete" : "unconfirmed";
    },
    /** Records the nodes of a machine's drain; none: it is not draining. */
    note(machine: string, nodes: readonly Node[]): void {
      const before = cordons.get(machine) ?? [];
      const cordoned = nodes
        .filter(({ spec }) => spec?.unschedulable === true)
        .map(({ metadata: { uid, name, resourceVersion } }) => {
          const known = before.find(({ nodeUid }) => nodeUid === uid);
          return known ?? { nodeUid: uid, nodeName: name, resourceVersion, isConfirmed: false };
        });
      if (cordoned.length === 0) cordons.delete(machine);
      else cordons.set(machine, cordoned);
    },
    /** A list of a node's pods that was requested after its cordon is in the cache. */
    confirm(machine: string, nodeName: string): void {
      for (const cordon of cordons.get(machine) ?? []) if (cordon.nodeName === nodeName) cordon.isConfirmed = true;
    },
  };
}
