/** The nodes that a fault affects. Default: all. */
interface OfNodes {
  readonly nodes?: readonly string[];
}

/** The pods that a fault affects: those that match all the fields that are given. */
interface OfPods {
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** The volumes that a fault affects: by name of the PersistentVolume, and by the node that it is (or should be) attached to. */
interface OfVolumes {
  readonly volumes?: readonly string[];
  readonly nodes?: readonly string[];
}

/** A fault of nodes, pods, volumes or the garbage collector. It lasts until it is removed. Faults of API requests are in `faults/`. */
export type ClusterFault =
  /** The kubelet stops: no heartbeats, and pods neither start nor end. The node becomes Unknown when its lease has expired. */
  | ({ readonly kind: "kubelet-stops" } & OfNodes)
  /** The machine runs, but its kubelet never registers. Nodes that have joined stay. */
  | ({ readonly kind: "never-joins" } & OfNodes)
  /** The kubelet reports that it is not ready. */
  | ({ readonly kind: "not-ready" } & OfNodes)
  /** The node alternates between ready and not ready, `everyMs` each. */
  | ({ readonly kind: "node-flaps"; readonly everyMs: number } & OfNodes)
  /** The node has one more condition, as from a node problem detector. It becomes False when the fault is removed. */
  | ({
      readonly kind: "node-condition";
      readonly type: string;
      readonly status: "True" | "False" | "Unknown";
      readonly reason?: string;
      readonly message?: string;
    } & OfNodes)
  /** Nothing is deleted or orphaned with its owner. It is made up for when the fault is removed. */
  | { readonly kind: "garbage-collector-stops" }
  /** Volumes are never detached from their node. */
  | ({ readonly kind: "never-detaches" } & OfVolumes)
  /** Volumes are never attached to their node. */
  | ({ readonly kind: "never-attaches" } & OfVolumes)
  /** Pods that are being deleted never end, whatever their grace period. */
  | ({ readonly kind: "pod-never-ends" } & OfPods)
  /** Pods never start. */
  | ({ readonly kind: "pod-never-starts" } & OfPods)
  /** Pods run and are not ready. */
  | ({ readonly kind: "pod-not-ready" } & OfPods)
  /** Pods alternate between ready and not ready, `everyMs` each. */
  | ({ readonly kind: "pod-flaps"; readonly everyMs: number } & OfPods);

/** All kinds of cluster faults, for messages and checks. */
export const clusterFaultKinds: readonly ClusterFault["kind"][] = [
  "kubelet-stops",
  "never-joins",
  "not-ready",
  "node-flaps",
  "node-condition",
  "garbage-collector-stops",
  "never-detaches",
  "never-attaches",
  "pod-never-ends",
  "pod-never-starts",
  "pod-not-ready",
  "pod-flaps",
];
