import { defaultNodeConditions, type IntOrPercent } from "@millwright/core/machine-api";

/** When machines that become Unknown count as an outage. */
export interface OutageRule {
  /** Share of the machines that have joined, 0 to 1. */
  readonly outageThreshold: number;
  /** Fewer machines than this are never an outage: in a small pool each machine is a large share. */
  readonly outageMinMachines: number;
  /**
   * Machines that have been Unknown for longer no longer count, milliseconds. This limits the pause: machines that are still unhealthy afterwards are remediated, one
   * per deployment at a time.
   */
  readonly outageWindowMs: number;
}

/** How long a flapping node must be stable before its recovery is written. */
export interface FlapRule {
  /** Older flaps are ignored, milliseconds. */
  readonly flapWindowMs: number;
  /** After the second flap within the window, milliseconds; doubled with each further one. The first recovery counts at once. */
  readonly stabilizationMs: number;
  /** Maximum time to be stable, milliseconds. */
  readonly maxStabilizationMs: number;
}

/** Times and lists that a machine may override in its spec. */
export interface MachineSettings extends OutageRule, FlapRule {
  /** From creation of the object to a joined node, milliseconds. */
  readonly creationTimeoutMs: number;
  /** From a node that is missing or unhealthy to phase Failed, milliseconds. */
  readonly healthTimeoutMs: number;
  /** How many unhealthy machines of a deployment may be remediated at once, unless its annotation sets another number. */
  readonly maxInFlightRemediations: IntOrPercent;
  /** After this time without a response an API server counts as unreachable, milliseconds: remediation is paused, and node timeouts restart afterwards. */
  readonly unreachableAfterMs: number;
  /** From the deletion timestamp until a drain is forced, milliseconds. */
  readonly drainTimeoutMs: number;
  /** MCM's number of eviction attempts, one every 20 s; budgets are respected for as long. */
  readonly maxEvictRetries: number;
  /** From the end of a pod's grace period until its volumes have left the node, milliseconds. */
  readonly pvDetachTimeoutMs: number;
  /** From then until they are attached to the node of the replacement pod, milliseconds; 0: no wait. */
  readonly pvReattachTimeoutMs: number;
  /** From a drained node to the report of the agent on it, milliseconds. */
  readonly inPlaceUpdateTimeoutMs: number;
  /** From the start of a preservation to its end, milliseconds. */
  readonly preserveTimeoutMs: number;
  /** Maximum backoff after ResourceExhausted, milliseconds. */
  readonly resourceExhaustedRetryMs: number;
  /** Maximum number of concurrent machine creations in one launch group (class, instance type, zone, annotations of the node). */
  readonly maxConcurrentCreationsPerClass: number;
  /** Maximum number of concurrent machine creations, over all classes. */
  readonly maxConcurrentCreations: number;
  /** Groups that bootstrap tokens give a node besides `system:bootstrappers`, separated by commas. */
  readonly bootstrapTokenExtraGroups: string;
  /** Node conditions that make a machine unhealthy unless they are False. */
  readonly nodeConditions: readonly string[];
}

/** MCM's defaults (MCM, `pkg/util/provider/machinecontroller/machine_util.go` getEffectiveCreationTimeout; MCM, `pkg/util/provider/machinecontroller/machine_util.go` isHealthy); it limits concurrent creations only by its 50 workers. */
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
  maxConcurrentCreationsPerClass: 50,
  maxConcurrentCreations: 100,
  bootstrapTokenExtraGroups: "",
  nodeConditions: defaultNodeConditions,
};

/** How Cluster API's conditions of sets and deployments are computed. */
export interface ConditionOptions {
  /** `false` removes them, for clients that only know MCM's, and before a change back to MCM. Default: true. */
  readonly clusterApi?: boolean;
  /** Settings of the machine controller. Default: {@link defaultMachineSettings}. */
  readonly settings?: MachineSettings;
}
