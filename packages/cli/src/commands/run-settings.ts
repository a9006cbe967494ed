import type { ControllerName, IntOrPercent } from "@millwright/core/machine-api";
import type { ManagerSettings } from "@millwright/runtime";
import type { AutoscalerFlags } from "../autoscaler/open-autoscaler.ts";
import type { ProviderFlags } from "../drivers/open-drivers.ts";
import type { ControlFlags } from "../target/cluster-flags.ts";
import type { DashboardFlags } from "../dashboard/open-dashboard.ts";
import type { ProfilingFlags } from "./open-profiles.ts";
import type { TracingFlags } from "./open-tracing.ts";
import type { TargetFlags } from "../target/target-kubeconfig.ts";

/** Flags of `millwright run`. */
export interface RunFlags
  extends TargetFlags, ControlFlags, ProviderFlags, ProfilingFlags, TracingFlags, DashboardFlags, AutoscalerFlags {
  /** Default: that of the kubeconfig. */
  readonly namespace?: readonly string[];
  readonly controllers: readonly ControllerName[];
  readonly leaderElect: boolean;
  /** Milliseconds. */
  readonly leaderElectLeaseDuration: number;
  readonly leaderElectRenewDeadline: number;
  readonly leaderElectRetryPeriod: number;
  readonly machineCreationTimeout: number;
  readonly machineHealthTimeout: number;
  readonly nodeConditions: readonly string[];
  readonly machineMaxInFlightRemediations: IntOrPercent;
  readonly machineSafetyApiserverStatuscheckTimeout: number;
  readonly machineSafetyOrphanVmsPeriod: number;
  readonly machineSafetyOrphanVms: "collect" | "report" | "off";
  /** 0 to 1. */
  readonly machineOutageThreshold: number;
  readonly machineOutageMinMachines: number;
  /** Milliseconds. */
  readonly machineOutageWindow: number;
  readonly concurrentMachineCreationsPerClass: number;
  readonly concurrentMachineCreations: number;
  /** Milliseconds; 0 is the default. */
  readonly resourceExhaustedRetry: number;
  readonly bootstrapTokenAuthExtraGroups: string;
  /** 0 to 1. */
  readonly machineSafetyMaxDeletionShare?: number;
  readonly machineDrainTimeout: number;
  readonly machineMaxEvictRetries: number;
  readonly machinePvDetachTimeout: number;
  readonly machinePvReattachTimeout: number;
  readonly machineInplaceUpdateTimeout: number;
  readonly machinePreserveTimeout: number;
  /** Machines. */
  readonly safetyUp: number;
  readonly safetyDown: number;
  readonly clusterApiConditions: boolean;
  readonly autoscalerScaledownAnnotationDuringRollout: boolean;
  /** A file that does not exist yet. */
  readonly recordCloud?: string;
  readonly logLevel?: "debug" | "info" | "warn" | "error";
  /** klog's verbosity. */
  readonly v?: number;
  /** 0: nothing is served. */
  readonly port: number;
  /** An IP address. */
  readonly address: string;
  readonly concurrentSyncs: number;
  /** Milliseconds; 0: never. */
  readonly metricsAuthorization: boolean;
  readonly watchdogStallTimeout: number;
  readonly watchdogStuckTimeout: number;
  /** 0 to 1; 0: no limit. */
  readonly watchdogMemoryLimit: number;
  /** Decides beside another manager, and changes nothing. */
  readonly shadow?: true;
  /** Milliseconds. */
  readonly shadowGrace: number;
  readonly shadowReportInterval: number;
}

/** MCM's default of the backoff after ResourceExhausted, milliseconds. */
const EXHAUSTED_RETRY_MS = 600_000;

/** What the flags set of the machines' settings; the rest has its defaults. */
const machineSettings = (flags: RunFlags) => ({
  creationTimeoutMs: flags.machineCreationTimeout,
  healthTimeoutMs: flags.machineHealthTimeout,
  nodeConditions: flags.nodeConditions,
  maxInFlightRemediations: flags.machineMaxInFlightRemediations,
  unreachableAfterMs: flags.machineSafetyApiserverStatuscheckTimeout,
  outageThreshold: flags.machineOutageThreshold,
  outageMinMachines: flags.machineOutageMinMachines,
  outageWindowMs: flags.machineOutageWindow,
  maxConcurrentCreationsPerClass: flags.concurrentMachineCreationsPerClass,
  maxConcurrentCreations: flags.concurrentMachineCreations,
  resourceExhaustedRetryMs: flags.resourceExhaustedRetry === 0 ? EXHAUSTED_RETRY_MS : flags.resourceExhaustedRetry,
  bootstrapTokenExtraGroups: flags.bootstrapTokenAuthExtraGroups,
  drainTimeoutMs: flags.machineDrainTimeout,
  maxEvictRetries: flags.machineMaxEvictRetries,
  pvDetachTimeoutMs: flags.machinePvDetachTimeout,
  pvReattachTimeoutMs: flags.machinePvReattachTimeout,
  inPlaceUpdateTimeoutMs: flags.machineInplaceUpdateTimeout,
  preserveTimeoutMs: flags.machinePreserveTimeout,
});

/** What the flags set of the manager. */
export const managerSettings = (flags: RunFlags) => ({
  // A shadow reads nothing that only its own marks would show: Nodes without Machine, and VMs without Machine.
  controllers: flags.shadow === true ? flags.controllers.filter((name) => name !== "node") : flags.controllers,
  workers: flags.concurrentSyncs,
  clusterApiConditions: flags.clusterApiConditions,
  orphanVms: flags.shadow === true ? ("off" as const) : flags.machineSafetyOrphanVms,
  vmLists: { periodMs: flags.machineSafetyOrphanVmsPeriod },
  overshootMargins: { up: flags.safetyUp, down: flags.safetyDown },
  disablesScaleDownDuringRollouts: flags.autoscalerScaledownAnnotationDuringRollout,
  settings: machineSettings(flags),
});

/** What a reload of the configuration sets of a manager that runs: what reloadable flags set, and nothing else. */
export function reloadedSettings(flags: RunFlags): ManagerSettings {
  const { unreachableAfterMs: _unreachable, bootstrapTokenExtraGroups: _groups, ...settings } = machineSettings(flags);
  return { settings, overshootMargins: { up: flags.safetyUp, down: flags.safetyDown } };
}
