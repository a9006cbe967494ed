/** The user agent of cloud, nodes and pods. */
export const worldAgent = "bench-world";

/** What the world is like. */
export interface WorldOptions {
  readonly kubeconfig: string;
  /** How long each call of the cloud takes, milliseconds. */
  readonly cloudLatencyMs: number;
  /** Interval of the heartbeats of a node, milliseconds. */
  readonly heartbeatMs: number;
  /** Whether a scheduler, kubelets and the controllers of Deployments and ReplicaSets run pods. */
  readonly withPods: boolean;
}

/** A VM as another one, of another machine. */
export interface VmCopy {
  readonly name: string;
  readonly machineUid: string;
}

/** What the world can be asked to do. */
export type WorldCommand =
  /** Creates a Deployment of pods. */
  | { readonly kind: "deploy"; readonly name: string; readonly replicas: number }
  /** Creates further VMs as one that is there, for machines of these names. They have no kubelets. */
  | { readonly kind: "copy-vm"; readonly name: string; readonly copies: readonly VmCopy[] }
  /** Nodes alternate between ready and not ready. */
  | { readonly kind: "flap"; readonly nodes: readonly string[]; readonly everyMs: number }
  | { readonly kind: "clear-faults" };

/** A command with the id of its answer. */
export type WorldRequest = WorldCommand & { readonly id: number };

/** The answer to a command; that with the id 0 is sent once the world is ready. */
export interface WorldAnswer {
  readonly id: number;
  readonly vms?: number;
  /** The provider IDs of the VMs that were created, in their order. */
  readonly providerIds?: readonly string[];
  readonly error?: string;
}
