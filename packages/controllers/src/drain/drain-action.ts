import type { DrainRecord } from "./drain-record.ts";

/** A pod, identified by its UID: a new pod of the same name is not affected. */
interface PodTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** All actions of a drain. */
export type DrainAction =
  /** Patch of metadata and spec of a node; `mayFail`: a failure does not stop the next actions. */
  | {
      readonly kind: "PatchNode";
      readonly name: string;
      readonly patch: object;
      /** `strategic` adds to the list of finalizers. Default: a JSON merge patch, which replaces lists. */
      readonly merge?: "strategic";
      readonly mayFail?: boolean;
      /** Ids of taints of the template that another client removed or changed, and that the patch puts back. Default: none. */
      readonly restores?: readonly string[];
    }
  /** Stores the state of the drain on the machine. */
  | { readonly kind: "RecordDrain"; readonly record: DrainRecord }
  /** Reads the pods of a node from the API server: the cache may not have all that were bound before the cordon. */
  | { readonly kind: "ReadPods"; readonly nodeName: string }
  /** Requests from the driver which of these PersistentVolumes are its own, and under which ids nodes report them. */
  | { readonly kind: "LookUpVolumeIds"; readonly volumes: readonly string[] }
  /** Requests the eviction of a pod; a budget may reject it. */
  | ({ readonly kind: "EvictPod" } & PodTarget)
  /** Deletes a pod regardless of its budget; `atOnce`: without its grace period. */
  | ({ readonly kind: "DeletePod"; readonly atOnce: boolean } & PodTarget);
