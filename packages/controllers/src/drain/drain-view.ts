import type { DrainRule } from "@millwright/core/machine-api";
import type { Budget, Node, Pod } from "../model/node-objects.ts";
import type { DrainClock, DrainRecord } from "./drain-record.ts";
import type { EvictionView } from "@millwright/kube";
import type { KnownPods } from "./known-pods.ts";
import type { TrackedVolume } from "./volume-accounting.ts";
import type { VolumeLimits, VolumeView } from "./volume-moves.ts";

/** Inputs of a drain: plain data from caches, so that controller, tests and dry run decide alike. */
export interface DrainView {
  readonly node: Node;
  /** Further nodes of the same VM, which are drained with it. Default: none. */
  readonly otherNodes?: readonly Node[];
  /** Pods on the node, or the nodes. */
  readonly pods: readonly Pod[];
  readonly knownPods: KnownPods;
  readonly rules: readonly DrainRule[];
  /** Budgets of the pods' namespaces. */
  readonly budgets: readonly Budget[];
  /** Volumes to detach with a pod, by its UID. */
  readonly volumes: ReadonlyMap<string, readonly TrackedVolume[]>;
  /** PersistentVolumes whose ids have not been requested from the driver yet, sorted. */
  readonly unknownVolumes: readonly string[];
  /** Wall clock, milliseconds: until then the drain waits for ids from the driver; in the past when none are outstanding. */
  readonly volumeIdsUntil: number;
  readonly attached: Pick<VolumeView, "attachedHere" | "attachedElsewhere" | "wantedClaims" | "unplacedClaims">;
  /** State of requested evictions, by the pod's UID. */
  readonly evictions: ReadonlyMap<string, EvictionView>;
  readonly record: DrainRecord;
}

/** Mode and deadlines of a drain. All times are wall clock in milliseconds, computed from a start that is stored in an object. */
export interface DrainTerms {
  /** `force`: do not wait for the deadline. `withheld`: nothing is forced, even after the deadline, because the VM of an unreachable node may be running. */
  readonly mode: "normal" | "force" | "withheld";
  readonly startedAt: number;
  /** By how much the clock of the node's cluster is ahead of the one that `startedAt` is of. Default: not. */
  readonly clockAheadMs?: number;
  /** From then on pods are deleted with their grace period, regardless of their budgets. */
  readonly evictUntil: number;
  /** From then on the remaining pods are deleted without a grace period, and the drain is complete. */
  readonly deadline: number;
  /** The time that counts, when it has to be stored; absent when it need not be. */
  readonly clock?: DrainClock;
  /** Whether the node is cordoned. A preserved node is not: a taint keeps new pods off it. */
  readonly cordon: boolean;
  readonly volumes: VolumeLimits;
}
