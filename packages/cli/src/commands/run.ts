import { systemClock, systemRandom, type Timer } from "@millwright/base";
import { leasesOf } from "@millwright/core/machine-api";
import {
  type ApiClient,
  type ApiClientOptions,
  type ClusterConfig,
  createApiClient,
  createElectionThread,
  type ElectionTimes,
  isLeadershipLost,
  keepHeapSmall,
  loadKubeConfig,
  type LoadKubeConfigOptions,
  type Log,
  type LogLevel,
} from "@millwright/kube";
import { type RequiredAccess, reviewToken } from "@millwright/kube/endpoints";
import type * as Runtime from "@millwright/runtime";
import type { Manager } from "@millwright/runtime";
import { type ReloadableConfiguration, reloadConfiguration } from "../configuration/reload-configuration.ts";
import type { DriverCollection } from "../drivers/collect-drivers.ts";
import type { UnknownVariable } from "../configuration/unknown-variables.ts";
import { openDrivers } from "../drivers/open-drivers.ts";
import { needsDriver } from "../drivers/needs-driver.ts";
import { loadTargetConfig, targetKubeConfig } from "../target/target-kubeconfig.ts";
import { controlKubeConfig } from "../target/cluster-flags.ts";
import { managerSettings, reloadedSettings, type RunFlags } from "./run-settings.ts";
import { readAutoscalerTls, runAutoscalerEndpoint } from "../autoscaler/open-autoscaler.ts";
import { runDashboard } from "../dashboard/open-dashboard.ts";
import { openProfiles } from "./open-profiles.ts";
import { openTracing, type OpenedTracing } from "./open-tracing.ts";
import { readVersion } from "./version.ts";
import { untilStopSignal } from "../terminal/signals.ts";

/** A flag that changes nothing, and why. */
export interface FlagWithoutEffect {
  readonly flag: string;
  readonly because: string;
}

/** From this verbosity on, MCM logs each reconcile. */
const DEBUG_VERBOSITY = 4;

const electionTimes = (flags: RunFlags): ElectionTimes => ({
  leaseDurationMs: flags.leaderElectLeaseDuration,
  renewDeadlineMs: flags.leaderElectRenewDeadline,
  retryPeriodMs: flags.leaderElectRetryPeriod,
});

/** Where machines are declared. Without a flag it is the target cluster, as for MCM, if that is named. */
const controlCluster = (flags: RunFlags): LoadKubeConfigOptions => {
  const given = controlKubeConfig(flags);
  if (namesControl(flags) || flags.targetKubeconfig === undefined || flags.targetKubeconfig === "none") return given;
  return { ...targetKubeConfig(flags), context: flags.context };
};

const namesControl = ({ controlKubeconfig, kubeconfig }: RunFlags): boolean =>
  (controlKubeconfig ?? kubeconfig) !== undefined;

/** Whether one kubeconfig is used for both clusters. A context selects a cluster of that of the control cluster. */
const isOneCluster = (flags: RunFlags, { file }: LoadKubeConfigOptions): boolean =>
  flags.targetKubeconfig === undefined ||
  (flags.targetKubeconfig === file && (flags.context === undefined || !namesControl(flags)));

/** A log whose level can be changed. */
function createLeveledLog({ createJsonLog }: Pick<typeof Runtime, "createJsonLog">, flags: RunFlags) {
  const levelOf = ({ logLevel, v = 0 }: RunFlags): LogLevel => logLevel ?? (v >= DEBUG_VERBOSITY ? "debug" : "info");
  let current = createJsonLog(levelOf(flags));
  const log: Log = (...line) => current(...line);
  return { log, setLevel: (changed: RunFlags): void => void (current = createJsonLog(levelOf(changed))) };
}

/** What a user who reads the metrics must be allowed to, as kube-rbac-proxy and controller-runtime ask. */
const metricsAccess: readonly RequiredAccess[] = [
  { attributes: { nonResourceAttributes: { path: "/metrics", verb: "get" } }, action: "get /metrics" },
];

/** Starts the thread that watches the event loop and serves the endpoints, unless neither is wanted. */
async function startEndpoints(
  { serveEndpoints }: Pick<typeof Runtime, "serveEndpoints">,
  { address, port, metricsAuthorization, watchdogStallTimeout: stallMs }: RunFlags,
  {
    reviewClient,
    metrics,
    log,
  }: Pick<Runtime.EndpointOptions, "metrics" | "log"> & { readonly reviewClient: ApiClient },
): Promise<Runtime.Endpoints | undefined> {
  if (port === 0 && stallMs === 0) return undefined;
  const served = port === 0 ? undefined : port;
  const reviewed = metricsAuthorization
    ? { reviewToken: (token: string) => reviewToken(reviewClient, token, metricsAccess) }
    : {};
  return serveEndpoints({ address, port: served, stallMs, metrics, ...reviewed, clock: systemClock, log });
}

/** How long the process may take to stop after an unexpected error, or for a restart, milliseconds: what should stop may be what is broken. */
const STOP_TIMEOUT_MS = 30_000;

/** A signal that aborts when the process must end with status 1. */
interface ProcessFailure {
  readonly signal: AbortSignal;
  fail(reason: unknown): void;
  end(): void;
}

/** A signal that aborts when our own code fails where nothing handles it, or `fail` is called. Errors of drivers are logged and counted, and stop nothing. */
function untilFailure({ superviseProcess }: Pick<typeof Runtime, "superviseProcess">, log: Log): ProcessFailure {
  const failed = new AbortController();
  let deadline: Timer | undefined;
  const fail = (reason: unknown): void => {
    if (failed.signal.aborted) return;
    process.exitCode = 1;
    failed.abort(reason);
    deadline = systemClock.setTimer(STOP_TIMEOUT_MS, () => process.exit(1));
  };
  const endSupervision = superviseProcess({
    log,
    onOwnError(error) {
      if (!failed.signal.aborted) log("error", "Unexpected error; stopping", { error });
      fail(error);
    },
  });
  return {
    signal: failed.signal,
    fail,
    end() {
      deadline?.cancel();
      endSupervision();
    },
  };
}

/** Share of the machines that may be deleted within an hour without approval, where control and target cluster are one. */
const DELETION_SHARE = 0.5;

/** Reports which share is in force, and why where no flag sets it. */
function logDeletionShare(log: Log, { machineSafetyMaxDeletionShare: flag }: RunFlags, share: number): void {
  const because =
    flag !== undefined
      ? "--machine-safety-max-deletion-share"
      : share === 0
        ? "control and target cluster differ"
        : "default";
  log("info", share === 0 ? "Large deletions need no approval" : "Large deletions are held for approval", {
    maxDeletionShare: `${Math.round(share * 100)}%`,
    because,
  });
}

/** Compares with another manager instead of acting; reports on SIGUSR2, too. */
function openShadow(
  { shadow: isShadow, shadowGrace: graceMs, shadowReportInterval: reportMs }: RunFlags,
  { createShadow }: Pick<typeof Runtime, "createShadow">,
  log: Log,
): Runtime.Shadow | undefined {
  if (isShadow !== true) return undefined;
  const shadow = createShadow({ graceMs, reportMs, clock: systemClock, log });
  process.on("SIGUSR2", shadow.logReport);
  return { ...shadow, run: (signal) => shadow.run(signal).finally(() => process.off("SIGUSR2", shadow.logReport)) };
}

/** Few connections, and no waits: a client repeats its request. */
const reviewOptions: ApiClientOptions = { maxConnections: 4, maxRetries: 0, timeoutMs: 10_000 };

/** Clients for the clusters of the flags. */
async function connectClusters(flags: RunFlags, log: Log) {
  const { targetKubeconfig } = flags;
  const kubeConfig = controlCluster(flags);
  const config = await loadKubeConfig(kubeConfig, { log });
  const connect = (cluster: ClusterConfig, options: ApiClientOptions = {}): ApiClient =>
    createApiClient(cluster, { userAgent: "millwright", fieldManager: "millwright", log, ...options });
  const control = connect(config);
  const reviewClient = connect(config, reviewOptions);
  const separate =
    targetKubeconfig === "none" || isOneCluster(flags, kubeConfig) ? undefined : await loadTargetConfig(flags, { log });
  const target = targetKubeconfig === "none" ? undefined : separate === undefined ? control : connect(separate);
  return {
    kubeConfig,
    config,
    control,
    target,
    /** Reviews the tokens of those who read: their requests do not delay those of the controllers. */
    reviewClient,
    /** Whether no other cluster than the control cluster is used. */
    isOneServer: separate === undefined || separate.server === config.server,
    async closeClusters() {
      await Promise.all([
        control.close(),
        reviewClient.close(),
        ...(target === undefined || target === control ? [] : [target.close()]),
      ]);
    },
  };
}

/** The clusters that the controllers use, each once. */
const clustersOf = (control: ApiClient, target: ApiClient | undefined): readonly Runtime.PrerequisiteCluster[] =>
  target === control
    ? [{ api: control, roles: ["control", "target"] }]
    : [
        { api: control, roles: ["control"] },
        ...(target === undefined ? [] : [{ api: target, roles: ["target"] } as const]),
      ];

/** What the controllers run with. */
interface RunContext {
  readonly runtime: typeof Runtime;
  readonly log: Log;
  readonly failure: ProcessFailure;
  readonly opened: DriverCollection;
  /** Absent: no traces are sent. */
  readonly tracer: OpenedTracing | undefined;
  /** Reloads the configuration of a manager until the signal aborts; `shareOf`: the share of deletions that flags set. */
  readonly reload: (manager: Manager, shareOf: (flags: RunFlags) => number, until: AbortSignal) => Promise<void>;
  /** Aborts when the process should stop. */
  readonly signal: AbortSignal;
}

/** Of a process without the controllers of machines. */
const noDrivers: DriverCollection = {
  first: () => Promise.resolve([]),
  later: () => undefined,
  close: () => Promise.resolve(),
};

/** Runs the controllers until a signal; resolves with the exit status. */
export async function run(
  flags: RunFlags,
  withoutEffect: readonly (FlagWithoutEffect | UnknownVariable)[] = [],
  configuration?: ReloadableConfiguration<RunFlags>,
): Promise<number> {
  // Before the caches fill: the size of the young generation is fixed from here on.
  keepHeapSmall();
  const runtime = await import("@millwright/runtime");
  const { log, setLevel } = createLeveledLog(runtime, flags);
  for (const each of withoutEffect)
    if ("flag" in each) log("info", "Flag has no effect", { ...each });
    else log("warn", "Environment variable has no effect", { ...each });
  const failure = untilFailure(runtime, log);
  const signal = AbortSignal.any([
    untilStopSignal(configuration === undefined ? undefined : ["SIGINT", "SIGTERM"]),
    failure.signal,
  ]);
  readAutoscalerTls(flags);
  const opened = needsDriver(flags) ? await openDrivers(flags, { runtime, log, signal }) : noDrivers;
  let profiles: Awaited<ReturnType<typeof openProfiles>>;
  let tracer: OpenedTracing | undefined;
  try {
    tracer = await openTracing(flags, { log, version: await readVersion() });
    profiles = await openProfiles(flags, runtime, log);
    const reload: RunContext["reload"] = (manager, shareOf, until) =>
      configuration === undefined
        ? Promise.resolve()
        : reloadConfiguration(
            {
              configuration,
              apply(changed) {
                setLevel(changed);
                manager.reconfigure({ ...reloadedSettings(changed), maxDeletionShare: shareOf(changed) });
              },
              clock: systemClock,
              log,
            },
            until,
          );
    return await runControllers(flags, { runtime, log, failure, opened, reload, signal, tracer });
  } finally {
    await profiles?.close();
    await tracer?.close();
    await opened.close();
    failure.end();
  }
}

/** Takes part in the election of each namespace, unless leaders are not elected. */
function joinElections(
  flags: RunFlags,
  {
    runtime,
    log,
    namespaces,
    cluster: { kubeConfig, history },
  }: Pick<RunContext, "runtime" | "log"> & {
    readonly namespaces: readonly string[];
    readonly cluster: { readonly kubeConfig: LoadKubeConfigOptions; readonly history: ApiClient["history"] };
  },
) {
  const stalledAfterMs = flags.watchdogStallTimeout === 0 ? undefined : flags.watchdogStallTimeout;
  const thread = createElectionThread();
  const election = {
    cluster: { kubeConfig },
    thread,
    leases: leasesOf(flags.controllers),
    history,
    log,
    stalledAfterMs,
    ...electionTimes(flags),
  };
  return new Map(
    (flags.leaderElect && flags.shadow !== true ? namespaces : []).map((namespace) => [
      namespace,
      runtime.createManagerLeadership({ ...election, namespace }),
    ]),
  );
}

/**
 * Follows what the controllers of each namespace need from their clusters. None for a shadow: it has no permissions to write, and a check of permissions is a
 * POST.
 */
const followAllPrerequisites = (
  { followPrerequisites }: Pick<typeof Runtime, "followPrerequisites">,
  shared: Pick<Runtime.PrerequisiteOptions, "clusters" | "log">,
  namespaces: readonly string[],
  { ready }: Manager,
): readonly Runtime.Prerequisites[] =>
  namespaces.map((namespace) =>
    followPrerequisites({ ...shared, namespace, ready, clock: systemClock, random: systemRandom }),
  );

const logStart = (
  log: Log,
  { controllers }: RunFlags,
  {
    namespaces,
    server,
    drivers,
  }: { readonly namespaces: readonly string[]; readonly server: string; readonly drivers: readonly { name: string }[] },
): void =>
  log("info", "Starting", {
    namespace: namespaces.join(","),
    server,
    controllers,
    drivers: drivers.map(({ name }) => name),
  });

/** Serves what the flags request beside the controllers, until the signal aborts. A shadow serves no endpoint that writes. */
const serveBeside = (
  flags: RunFlags,
  tools: Parameters<typeof runDashboard>[1] & Parameters<typeof runAutoscalerEndpoint>[1],
  until: AbortSignal,
) =>
  Promise.all([
    runDashboard(flags, tools, until),
    ...(flags.shadow === true ? [] : [runAutoscalerEndpoint(flags, tools, until)]),
  ]);

async function runControllers(flags: RunFlags, { runtime, log, failure, opened, reload, signal, tracer }: RunContext) {
  const clusters = await connectClusters(flags, log);
  const { kubeConfig, config, control, target, reviewClient, isOneServer, closeClusters } = clusters;
  const shareOf = ({ machineSafetyMaxDeletionShare: share }: RunFlags): number =>
    share ?? (isOneServer ? DELETION_SHARE : 0);
  const maxDeletionShare = shareOf(flags);

  const namespaces = flags.namespace ?? [config.namespace ?? "default"];
  const cluster = { kubeConfig, history: control.history };
  const leaderships = joinElections(flags, { runtime, log, namespaces, cluster });
  const { recordCloud: file } = flags;
  const recorder = file === undefined ? undefined : await runtime.openCloudRecorder({ file, clock: systemClock, log });
  // Before there is a manager, whose timers would keep the process when the port cannot be used.
  let manager: Manager | undefined;
  let watchdog: Runtime.Watchdog | undefined;
  const stopped = new AbortController();
  const shadow = openShadow(flags, runtime, log);
  const readProcess = runtime.measureProcess([control, target]);
  async function* readMetrics(): Runtime.MetricParts {
    if (manager !== undefined) yield* manager.metricParts();
    if (watchdog !== undefined) yield await watchdog.metrics();
    if (shadow !== undefined) yield await shadow.metrics();
    yield* readProcess();
  }
  const endpoints = await startEndpoints(runtime, flags, { reviewClient, metrics: readMetrics, log });
  try {
    const drivers = await opened.first();
    manager = runtime.createManagerGroup({
      ...(recorder === undefined ? {} : { recorder }),
      ...(tracer === undefined ? {} : { tracer }),
      ...(shadow === undefined ? {} : { shadow }),
      leadershipOf: (namespace) => leaderships.get(namespace),
      ...(endpoints === undefined ? {} : { onDriverCall: endpoints.callBegins }),
      control,
      ...(target === undefined ? {} : { target }),
      namespaces,
      drivers,
      ...managerSettings(flags),
      maxDeletionShare,
      log,
    });
    const prerequisites = followAllPrerequisites(
      runtime,
      { clusters: clustersOf(control, target), log },
      shadow === undefined ? namespaces : [],
      manager,
    );
    logStart(log, flags, { namespaces, server: config.server, drivers });
    opened.later(manager.addDriver);
    watchdog = runtime.startWatchdog({
      vitals: manager.vitals,
      problems: () => [...new Set(prerequisites.flatMap(({ problems }) => problems()))],
      isLeaderKnown: () => [...leaderships.values()].every((leadership) => leadership.isLeaderKnown()),
      limits: { stuckMs: flags.watchdogStuckTimeout, memoryShare: flags.watchdogMemoryLimit },
      report: (report) => endpoints?.report(report),
      onRestart: (because) => failure.fail(new Error(because)),
      clock: systemClock,
      log,
    });
    logDeletionShare(log, flags, maxDeletionShare);
    const whileRunning = AbortSignal.any([signal, stopped.signal]);
    await Promise.all([
      manager.start(signal).finally(() => stopped.abort(new Error("stopped"))),
      ...prerequisites.map(({ run: check }) => check(whileRunning)),
      reload(manager, shareOf, whileRunning),
      serveBeside(flags, { manager, control, reviewClient, log }, whileRunning),
      shadow?.run(whileRunning),
    ]);
    log("info", "Stopped", {});
    return failure.signal.aborted ? 1 : 0;
  } catch (error) {
    if (!isLeadershipLost(error)) throw error;
    log("error", "Leadership lost; restart to join the election again", { because: error.message });
    return 1;
  } finally {
    // Nothing runs any more: the next leader need not wait for the expiry of the leases.
    await Promise.all([...leaderships.values()].map((leadership) => leadership.stop()));
    watchdog?.stop();
    await endpoints?.close();
    await recorder?.close();
    await closeClusters();
  }
}
