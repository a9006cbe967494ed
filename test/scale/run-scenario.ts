import { systemClock } from "@millwright/base";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { MachineTimes } from "./measure/machine-times.ts";
import { beginMeasurement, type Measured, type Measurement } from "./measure/measurement.ts";
import { quantileOf } from "./measure/quantile.ts";
import { watchMachines, type WatchedMachines } from "./measure/watch-machines.ts";
import type { RunResult } from "./report/run-result.ts";
import type { Scenario, Size, Stage } from "./scenarios/scenario.ts";
import { createReplicas, type Replicas } from "./subjects/replicas.ts";
import type { Subject } from "./subjects/subject.ts";
import type { BenchCluster } from "./world/cluster.ts";
import { startWorld } from "./world/world.ts";

/** What to run, and where. */
export interface ScenarioRun {
  readonly scenario: Scenario;
  readonly size: Size;
  readonly subject: Subject;
  readonly startCluster: (signal: AbortSignal) => Promise<BenchCluster>;
  /** Gets what is being waited for, now and then. */
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/** What a run measured, apart from what its caller knows. */
export type ScenarioResult = Measured & Pick<RunResult, "server" | "wallSeconds" | "creation">;

/** Interval of the heartbeats of nodes, milliseconds. A kubelet renews its Lease every 10 s; no controller here reads it, so the nodes do it less often. */
const HEARTBEAT_MS = 30_000;
/** Least time between two heartbeats of all nodes together, milliseconds: those of very many would use all of an API server on this computer. */
const MS_PER_HEARTBEAT = 20;
/** How often a condition is checked, milliseconds. */
const CHECK_MS = 50;
/** How long nothing may change before a run fails, milliseconds. */
const STALL_MS = 300_000;

/** Runs a scenario on a new cluster and ends everything that it started, also when it fails or is interrupted. */
export async function runScenario(run: ScenarioRun): Promise<ScenarioResult> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    return await runStages(run, (end) => void ends.push(end));
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

async function runStages(run: ScenarioRun, onEnd: (end: () => Promise<unknown>) => void): Promise<ScenarioResult> {
  const { scenario, subject, signal, onProgress } = run;
  onProgress("starting the API server");
  const cluster = await run.startCluster(signal);
  onEnd(() => cluster.close());
  const { cloudLatencyMs = 0, withPods = false } = scenario.world ?? {};
  onProgress("starting cloud and nodes");
  const heartbeatMs = Math.max(HEARTBEAT_MS, MS_PER_HEARTBEAT * run.size.machines);
  const world = await startWorld({ kubeconfig: cluster.kubeconfig, cloudLatencyMs, heartbeatMs, withPods });
  onEnd(() => world.close());
  const api = createApiClient(await loadKubeConfig({ file: cluster.kubeconfig }), { userAgent: "bench" });
  onEnd(() => api.close());
  const watched = await watchMachines(api);
  onEnd(() => watched.stop());

  const replicas = createReplicas(subject, cluster.kubeconfig, api);
  onEnd(() => replicas.end("SIGKILL"));
  let measurement: Measurement | undefined;
  const stage: Stage = {
    api,
    size: run.size,
    machines: watched.timeline,
    signal,
    programs: replicas.programs,
    world: (command) => world.send(command),
    async startReplica(namespace) {
      for (const program of await replicas.start(namespace)) measurement?.add(program);
    },
    untilLeading: () => replicas.untilLeading(signal),
    async endReplicas(how) {
      for (const program of replicas.programs) await measurement?.retire(program);
      await replicas.end(how);
    },
    async killLeader() {
      const leader = replicas.leader();
      if (leader === undefined) throw new Error("no process leads");
      await measurement?.retire(leader);
      await replicas.kill(leader);
    },
    until: (what, check) => untilTrue({ what, check, watched, replicas, signal, onProgress }),
    list: watched.list,
    sleep: (ms) => systemClock.sleep(ms, signal),
  };
  onProgress("starting the controllers");
  for (let count = 0; count < (scenario.replicas ?? 1); count++) await stage.startReplica();
  if (replicas.programs.length > 0) await stage.untilLeading();
  await scenario.prepare?.(stage);
  replicas.requireRunning();
  const others = [...(await cluster.processes()), { name: "cloud and nodes", pid: world.pid }];
  const options = { api, cluster, subject, others, programs: [...replicas.programs] };
  // Waits for what the preparation causes.
  await (await beginMeasurement(options)).untilQuiet();

  // Its output explains more than a missing process.
  replicas.requireRunning();
  measurement = await beginMeasurement({ ...options, programs: [...replicas.programs] });
  const startedMs = performance.now();
  await scenario.measure(stage);
  const wallSeconds = (performance.now() - startedMs) / 1000;
  if (scenario.isTimed !== true) await measurement.untilQuiet();
  return {
    server: cluster.name,
    wallSeconds,
    ...creationOf([...watched.timeline.since(startedMs).values()]),
    ...(await measurement.finish()),
  };
}

/** How long machines took from their creation to Running. */
function creationOf(times: readonly MachineTimes[]): Pick<RunResult, "creation"> {
  const durations = times.flatMap(({ seenMs, runningMs }) => (runningMs === undefined ? [] : [runningMs - seenMs]));
  const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((share) => quantileOf(durations, share));
  if (p50Ms === undefined || p99Ms === undefined || maxMs === undefined) return {};
  return { creation: { count: durations.length, p50Ms, p99Ms, maxMs } };
}

/** Waits for a condition; fails when nothing changes any more, a process ends, or the run is interrupted. */
async function untilTrue({
  what,
  check,
  watched: { timeline },
  replicas,
  signal,
  onProgress,
}: {
  readonly what: string;
  readonly check: () => boolean;
  readonly watched: WatchedMachines;
  readonly replicas: Replicas;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}): Promise<void> {
  let lastEvents = timeline.events;
  let changedMs = performance.now();
  while (!check()) {
    replicas.requireRunning();
    const phases = [...timeline.phases()]
      .map(([phase, count]) => `${count} ${phase === "" ? "new" : phase}`)
      .toSorted();
    onProgress(`waiting until ${what}: ${phases.join(", ") || "no machines"}`);
    await systemClock.sleep(CHECK_MS, signal);
    if (timeline.events !== lastEvents) changedMs = performance.now();
    lastEvents = timeline.events;
    if (performance.now() - changedMs > STALL_MS) {
      const outputs = replicas.programs.map(({ name, program }) => `${name}:\n${program.output().slice(-3000)}`);
      throw new Error(`no machine changed for ${STALL_MS / 1000} s while waiting until ${what}\n${outputs.join("\n")}`);
    }
  }
}
