import { type IntOrPercent, systemClock } from "@millwright/core";
import { createApiClient, type ElectionTimes, isLeadershipLost, keepHeapSmall, loadKubeConfig } from "@millwright/kube";
import { untilStopSignal } from "../terminal/signals.ts";

/** Flags of `millwright run`. */
export interface RunFlags {
  readonly provider: readonly string[];
  readonly controlKubeconfig?: string;
  readonly targetKubeconfig?: string;
  readonly namespace?: string;
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
  readonly machineDrainTimeout: number;
  readonly machineMaxEvictRetries: number;
  readonly machinePvDetachTimeout: number;
  readonly machinePvReattachTimeout: number;
  readonly machineInplaceUpdateTimeout: number;
  readonly machinePreserveTimeout: number;
  /** Machines. */
  readonly safetyUp: number;
  readonly safetyDown: number;
  /** Milliseconds; accepted for MCM, without effect. */
  readonly machineSafetyOvershootingPeriod: number;
  readonly clusterApiConditions: boolean;
  readonly autoscalerScaledownAnnotationDuringRollout: boolean;
  /** A file that does not exist yet. */
  readonly recordCloud?: string;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

const electionTimes = (flags: RunFlags): ElectionTimes => ({
  leaseDurationMs: flags.leaderElectLeaseDuration,
  renewDeadlineMs: flags.leaderElectRenewDeadline,
  retryPeriodMs: flags.leaderElectRetryPeriod,
});

/** Runs the controllers until a signal; resolves with the exit status. */
export async function run(flags: RunFlags): Promise<number> {
  // Before the caches fill: the size of the young generation is fixed from here on.
  keepHeapSmall();
  const { createJsonLog, createManager, createManagerLeadership, loadDriver, openCloudRecorder } =
    await import("@millwright/runtime");
  const log = createJsonLog(flags.logLevel);
  const drivers = await Promise.all(flags.provider.map((name) => loadDriver(name)));
  const config = await loadKubeConfig({ file: flags.controlKubeconfig });
  const control = createApiClient(config, { userAgent: "millwright", fieldManager: "millwright", log });
  const separate = flags.targetKubeconfig !== undefined && flags.targetKubeconfig !== "none";
  const target = separate
    ? createApiClient(await loadKubeConfig({ file: flags.targetKubeconfig, allowPlugins: false }), {
        userAgent: "millwright",
        fieldManager: "millwright",
        log,
      })
    : control;

  const namespace = flags.namespace ?? config.namespace ?? "default";
  const kubeConfig = { file: flags.controlKubeconfig };
  const leadership = flags.leaderElect
    ? createManagerLeadership({
        cluster: { kubeConfig },
        namespace,
        history: control.history,
        log,
        ...electionTimes(flags),
      })
    : undefined;
  const { recordCloud: file } = flags;
  const recorder = file === undefined ? undefined : await openCloudRecorder({ file, clock: systemClock, log });
  const manager = createManager({
    ...(recorder === undefined ? {} : { recorder }),
    ...(leadership === undefined ? {} : { leadership }),
    control,
    ...(flags.targetKubeconfig === "none" ? {} : { target }),
    namespace,
    drivers,
    clusterApiConditions: flags.clusterApiConditions,
    overshootMargins: { up: flags.safetyUp, down: flags.safetyDown },
    disablesScaleDownDuringRollouts: flags.autoscalerScaledownAnnotationDuringRollout,
    settings: {
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
      ...(flags.resourceExhaustedRetry === 0 ? {} : { resourceExhaustedRetryMs: flags.resourceExhaustedRetry }),
      bootstrapTokenExtraGroups: flags.bootstrapTokenAuthExtraGroups,
      drainTimeoutMs: flags.machineDrainTimeout,
      maxEvictRetries: flags.machineMaxEvictRetries,
      pvDetachTimeoutMs: flags.machinePvDetachTimeout,
      pvReattachTimeoutMs: flags.machinePvReattachTimeout,
      inPlaceUpdateTimeoutMs: flags.machineInplaceUpdateTimeout,
      preserveTimeoutMs: flags.machinePreserveTimeout,
    },
    log,
  });
  const signal = untilStopSignal();
  log("info", "Starting", { namespace, server: config.server, drivers: drivers.map(({ name }) => name) });
  try {
    await manager.start(signal);
    log("info", "Stopped", {});
    return 0;
  } catch (error) {
    if (!isLeadershipLost(error)) throw error;
    log("error", "Leadership lost; restart to join the election again", { because: error.message });
    return 1;
  } finally {
    // Nothing runs any more: the next leader need not wait for the expiry of the leases.
    await leadership?.stop();
    await recorder?.close();
    await Promise.all([control.close(), ...(separate ? [target.close()] : [])]);
  }
}
