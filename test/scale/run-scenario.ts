import { type Machine, machineResource, systemClock, systemRandom } from "@millwright/core";
import { type ApiClient, createApiClient, createInformer, loadKubeConfig } from "@millwright/kube";
import { createMachineTimeline, type MachineTimes } from "./measure/machine-times.ts";
import { beginMeasurement, type Measured, type Measurement } from "./measure/measurement.ts";
import { quantileOf } from "./measure/quantile.ts";
import type { RunResult } from "./report/run-result.ts";
import type { Scenario, Size, Stage } from "./scenarios/scenario.ts";
import type { Subject, SubjectProgram } from "./subjects/subject.ts";
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
  const world = await startWorld({ kubeconfig: cluster.kubeconfig, cloudLatencyMs, withPods });
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
    async startReplica() {
      for (const program of await replicas.start()) measurement?.add(program);
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
    sleep: (ms) => sleep(ms, signal),
  };
  onProgress("starting the controllers");
  for (let count = 0; count < (scenario.replicas ?? 1); count++) await stage.startReplica();
  await stage.untilLeading();
  await scenario.prepare?.(stage);
  const others = [...(await cluster.processes()), { name: "cloud and nodes", pid: world.pid }];
  const options = { api, cluster, subject, others, programs: [...replicas.programs] };
  // Waits for what the preparation causes.
  await (await beginMeasurement(options)).untilQuiet();

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

/** A watch of the machines. */
async function watchMachines(api: ApiClient) {
  const stop = new AbortController();
  const informer = createInformer<Machine>({ api, type: machineResource, clock: systemClock, random: systemRandom });
  const timeline = createMachineTimeline(() => performance.now());
  informer.store.subscribe((old, current) => timeline.observe(old, current));
  const running = informer.run(stop.signal);
  await informer.synced(stop.signal);
  return {
    timeline,
    list: () => informer.store.list(),
    async stop() {
      stop.abort(new Error("the measurement ends"));
      await running;
    },
  };
}

/** The processes of the controllers. */
function createReplicas(subject: Subject, kubeconfig: string, api: ApiClient) {
  const programs: SubjectProgram[] = [];
  const remove = (program: SubjectProgram): void => void programs.splice(programs.indexOf(program), 1);
  return {
    programs: programs as readonly SubjectProgram[],
    async start() {
      const started = await subject.start(kubeconfig);
      programs.push(...started);
      return started;
    },
    async untilLeading(signal: AbortSignal) {
      while (!(await subject.leads(api, programs))) {
        this.requireRunning();
        await sleep(CHECK_MS, signal);
      }
    },
    /** Throws with the output of a process that ended by itself. */
    requireRunning() {
      const ended = programs.find(({ program: { child } }) => child.exitCode !== null || child.signalCode !== null);
      if (ended !== undefined) throw new Error(`${ended.name} ended:\n${ended.program.output().slice(-2000)}`);
    },
    leader: () => programs.find(({ program }) => program.output().includes('"Leading"')),
    async kill(program: SubjectProgram) {
      remove(program);
      await program.program.stop("SIGKILL");
    },
    async end(signal: NodeJS.Signals) {
      await Promise.all(programs.splice(0).map(({ program }) => program.stop(signal)));
    },
  };
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
  readonly watched: Awaited<ReturnType<typeof watchMachines>>;
  readonly replicas: ReturnType<typeof createReplicas>;
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
    await sleep(CHECK_MS, signal);
    if (timeline.events !== lastEvents) changedMs = performance.now();
    lastEvents = timeline.events;
    if (performance.now() - changedMs > STALL_MS) {
      const outputs = replicas.programs.map(({ name, program }) => `${name}:\n${program.output().slice(-3000)}`);
      throw new Error(`no machine changed for ${STALL_MS / 1000} s while waiting until ${what}\n${outputs.join("\n")}`);
    }
  }
}

/** Rejects when the signal aborts. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
