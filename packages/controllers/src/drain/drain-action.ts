import type { DrainRecord } from "./drain-record.ts";

/** A pod as an action names it: by its UID, so that its successor of the same name is left alone. */
interface PodTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Everything that a drain does to the world. */
export type DrainAction =
  /** JSON merge patch of metadata and spec of a node; `mayFail`: what follows goes on all the same. */
  | { readonly kind: "PatchNode"; readonly name: string; readonly patch: object; readonly mayFail?: boolean }
  /** Stores on the machine what the drain must remember. */
  | { readonly kind: "RecordDrain"; readonly record: DrainRecord }
  /** Asks the driver which of these PersistentVolumes are its own, and under which ids nodes report them. */
  | { readonly kind: "LookUpVolumeIds"; readonly volumes: readonly string[] }
  /** Asks the API server to evict a pod; a budget may refuse. */
  | ({ readonly kind: "EvictPod" } & PodTarget)
  /** Deletes a pod whatever its budget says; `atOnce`: without its grace period. */
  | ({ readonly kind: "DeletePod"; readonly atOnce: boolean } & PodTarget);
