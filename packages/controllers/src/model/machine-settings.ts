import { defaultNodeConditions, type IntOrPercent } from "@millwright/core";

/** When many machines that turn Unknown are taken for an outage. */
export interface OutageRule {
  /** Share of the machines that have joined, 0 to 1. */
  readonly outageThreshold: number;
  /** Fewer machines than this are never an outage: in a small pool each machine is a large share. */
  readonly outageMinMachines: number;
  /**
   * Machines that have been Unknown for longer no longer count, milliseconds. This bounds the suspension: what is still broken when it is over is replaced, one
   * machine of a deployment after the other.
   */
  readonly outageWindowMs: number;
}

/** How long a node must hold still before anything is written about its coming back. */
export interface FlapRule {
  /** Flaps that are longer ago are forgotten, milliseconds. */
  readonly flapWindowMs: number;
  /** After the second flap within the window, milliseconds; doubled with each further one. The first return is believed at once. */
  readonly stabilizationMs: number;
  /** Longest time to hold still, milliseconds. */
  readonly maxStabilizationMs: number;
}

/** Times and lists that a machine may override in its spec. */
export interface MachineSettings extends OutageRule, FlapRule {
  /** From creation of the object to a joined node, milliseconds. */
  readonly creationTimeoutMs: number;
  /** From a node that is missing or unhealthy to phase Failed, milliseconds. */
  readonly healthTimeoutMs: number;
  /** How many unhealthy machines of a deployment may be replaced at once, where its annotation says nothing else. */
  readonly maxInFlightRemediations: IntOrPercent;
  /** An API server that has not answered for longer is taken for unreachable, milliseconds: nothing is replaced, and timeouts of nodes start anew afterwards. */
  readonly unreachableAfterMs: number;
  /** From the deletion timestamp until a drain is forced, milliseconds. */
  readonly drainTimeoutMs: number;
  /** How often MCM asks for an eviction, once in 20 s; for as long budgets are respected. */
  readonly maxEvictRetries: number;
  /** From the end of a pod's grace period until its volumes have left the node, milliseconds. */
  readonly pvDetachTimeoutMs: number;
  /** From then until they are attached where the pod is wanted, milliseconds; 0: not waited for. */
  readonly pvReattachTimeoutMs: number;
  /** From a drained node to the report of the agent on it, milliseconds. */
  readonly inPlaceUpdateTimeoutMs: number;
  /** From the start of a preservation to its end, milliseconds. */
  readonly preserveTimeoutMs: number;
  /** Longest time between two tries after ResourceExhausted, milliseconds. */
  readonly resourceExhaustedRetryMs: number;
  /** How many machines that ask for the same (class, instance type, zone, annotations of the node) are made at once. */
  readonly maxConcurrentCreationsPerClass: number;
  /** How many machines are made at once, all classes together. */
  readonly maxConcurrentCreations: number;
  /** Groups that bootstrap tokens give a node besides `system:bootstrappers`, separated by commas. */
  readonly bootstrapTokenExtraGroups: string;
  /** Node conditions that make a machine unhealthy unless they are False. */
  readonly nodeConditions: readonly string[];
}

/** MCM's defaults (MCM, `pkg/util/provider/machinecontroller/machine_util.go` getEffectiveCreationTimeout; MCM, `pkg/util/provider/machinecontroller/machine_util.go` isHealthy); it has none for how many machines are made at once but its 50 workers. */
export const defaultMachineSettings: MachineSettings = {
  creationTimeoutMs: 20 * 60_000,
  healthTimeoutMs: 10 * 60_000,
  maxInFlightRemediations: 1,
  unreachableAfterMs: 30_000,
  outageThreshold: 0.3,
  outageMinMachines: 3,
  outageWindowMs: 3_600_000,
  flapWindowMs: 3_600_000,
  stabilizationMs: 30_000,
  maxStabilizationMs: 10 * 60_000,
  drainTimeoutMs: 2 * 3_600_000,
  maxEvictRetries: 360,
  pvDetachTimeoutMs: 2 * 60_000,
  pvReattachTimeoutMs: 90_000,
  inPlaceUpdateTimeoutMs: 20 * 60_000,
  preserveTimeoutMs: 96 * 3_600_000,
  resourceExhaustedRetryMs: 10 * 60_000,
  maxConcurrentCreationsPerClass: 20,
  maxConcurrentCreations: 100,
  bootstrapTokenExtraGroups: "",
  nodeConditions: defaultNodeConditions,
};

/** How Cluster API's conditions of sets and deployments are computed. */
export interface ConditionOptions {
  /** `false` takes them away, for readers that know MCM's only, and before MCM takes over. Default: true. */
  readonly clusterApi?: boolean;
  /** What the controller of machines runs with. Default: {@link defaultMachineSettings}. */
  readonly settings?: MachineSettings;
}
