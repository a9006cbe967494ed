/** Which nodes a trouble strikes. Without names: all. */
interface OfNodes {
  readonly nodes?: readonly string[];
}

/** Which pods a trouble strikes. What is left out matches all; what is given must all match. */
interface OfPods {
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** Which volumes a trouble strikes: by the names of PersistentVolumes, and by the nodes that they are, or shall be, attached to. */
interface OfVolumes {
  readonly volumes?: readonly string[];
  readonly nodes?: readonly string[];
}

/** What goes wrong in the life of a cluster, as long as it is there. Faults, in contrast, strike requests to the API server. */
export type Trouble =
  /** The kubelet stops: no heartbeats, nothing starts, nothing ends. The node becomes Unknown after its silence. */
  | ({ readonly kind: "kubelet-stops" } & OfNodes)
  /** The machine runs, and its kubelet never registers. Nodes that have joined stay. */
  | ({ readonly kind: "never-joins" } & OfNodes)
  /** The kubelet reports that it is not ready. */
  | ({ readonly kind: "not-ready" } & OfNodes)
  /** The node is ready and not ready in turn, each for so long. */
  | ({ readonly kind: "node-flaps"; readonly everyMs: number } & OfNodes)
  /** The node has one more condition, as a node problem detector writes it; afterwards that is False. */
  | ({
      readonly kind: "node-condition";
      readonly type: string;
      readonly status: "True" | "False" | "Unknown";
      readonly reason?: string;
      readonly message?: string;
    } & OfNodes)
  /** Volumes never come off their node. */
  | ({ readonly kind: "never-detaches" } & OfVolumes)
  /** Volumes never arrive at their node. */
  | ({ readonly kind: "never-attaches" } & OfVolumes)
  /** Pods that were told to end do not, whatever their grace. */
  | ({ readonly kind: "pod-never-ends" } & OfPods)
  /** Pods never start. */
  | ({ readonly kind: "pod-never-starts" } & OfPods)
  /** Pods run and are not ready. */
  | ({ readonly kind: "pod-not-ready" } & OfPods)
  /** Pods are ready and not ready in turn, each for so long. */
  | ({ readonly kind: "pod-flaps"; readonly everyMs: number } & OfPods);

/** All kinds of trouble, for messages and checks. */
export const troubleKinds: readonly Trouble["kind"][] = [
  "kubelet-stops",
  "never-joins",
  "not-ready",
  "node-flaps",
  "node-condition",
  "never-detaches",
  "never-attaches",
  "pod-never-ends",
  "pod-never-starts",
  "pod-not-ready",
  "pod-flaps",
];
