import type { DrainRule } from "@millwright/core";
import type { Budget, Node, Pod } from "../model/node-objects.ts";
import type { DrainRecord } from "./drain-record.ts";
import type { EvictionView } from "./eviction-view.ts";
import type { TrackedVolume } from "./volume-accounting.ts";
import type { VolumeLimits, VolumeView } from "./volume-moves.ts";

/** What a drain sees: plain data out of caches, so that production, tests and the dry run decide alike. */
export interface DrainView {
  readonly node: Node;
  /** Pods on the node. */
  readonly pods: readonly Pod[];
  readonly rules: readonly DrainRule[];
  /** Budgets of the pods' namespaces. */
  readonly budgets: readonly Budget[];
  /** Volumes that leave with a pod, by its UID. */
  readonly volumes: ReadonlyMap<string, readonly TrackedVolume[]>;
  /** PersistentVolumes of which the driver was not asked yet whether they are its own, sorted. */
  readonly unknownVolumes: readonly string[];
  /** Wall clock, milliseconds: until then the driver's answer about the other volumes is waited for; in the past when there is none to wait for. */
  readonly volumeIdsUntil: number;
  readonly attached: Pick<VolumeView, "attachedHere" | "attachedElsewhere" | "wantedClaims" | "unplacedClaims">;
  /** What became of evictions that were asked for, by the pod's UID. */
  readonly evictions: ReadonlyMap<string, EvictionView>;
  readonly record: DrainRecord;
}

/** What a drain may do, and until when. All times are wall clock in milliseconds, computed from a start that is stored in an object. */
export interface DrainTerms {
  /** `force`: do not wait for the deadline. */
  readonly mode: "normal" | "force";
  readonly startedAt: number;
  /** From then on pods are deleted with their grace period, whatever their budgets say. */
  readonly evictUntil: number;
  /** From then on what is left is deleted without a grace period, and the drain is over. */
  readonly deadline: number;
  /** Whether the node is cordoned. A preserved node is not: a taint keeps new pods away from it. */
  readonly cordon: boolean;
  readonly volumes: VolumeLimits;
}
