import { leaseNames } from "@millwright/core/machine-api";
import { type ApiClient, createApiClient, LeadershipLostError, type Log } from "@millwright/kube";
import { createElector, readElectionTimes } from "@millwright/kube/testing";
import { createMockDriver, type MockCloud } from "@millwright/provider-mock";
import { createManager, type ManagerOptions } from "@millwright/runtime";
import type { CloudWire } from "../network/cloud-wire.ts";
import { withPatientWatches } from "../network/patient-client.ts";
import type { Network } from "../network/network.ts";
import type { Scheduler, Scope } from "./scheduler.ts";
import { streamOf } from "./streams.ts";
import type { Transcript } from "./transcript.ts";

/** The namespace of the machines; those of neighbours apart. */
export const namespace = "default";

/** Long leases: a renewal every minute keeps a simulation short. After one, two retry periods are left, or the next attempt would come soon. */
const electionTimes = { leaseDurationMs: 120_000, renewDeadlineMs: 115_000, retryPeriodMs: 57_000 };

/** Shorter than by default, so that machines that fail are replaced within a simulation. */
export const machineSettings = {
  creationTimeoutMs: 10 * 60_000,
  healthTimeoutMs: 5 * 60_000,
  drainTimeoutMs: 10 * 60_000,
};

/** How long a container takes to start again. */
const restartMs = 8_000;

/** What a process is made of. */
export interface ProcessOptions {
  readonly name: string;
  /** The namespace that it manages. */
  readonly namespace: string;
  readonly seed: number;
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly cloud: CloudWire;
  readonly transcript: Transcript;
  /** Whether it takes part in the leader election. Without it, it acts at once. */
  readonly elects: boolean;
  /** A mistake of this process. */
  readonly alteration?: (() => Alteration) | undefined;
}

/** What a process is made with, wrapped, such as to plant a mistake. One for each life of a process. */
export interface Alteration {
  readonly manager?: (options: ManagerOptions) => ManagerOptions;
  readonly cloud?: (cloud: MockCloud) => MockCloud;
  /** The leases that are required. Default: all. */
  readonly leases?: readonly string[];
}

/** A process that runs the controllers, and is started again when it ends. */
export interface ControllerProcess {
  readonly name: string;
  start(): void;
  /** It ends without a trace, between two steps: nothing that it waits for ever arrives. It starts again. */
  crash(): void;
  /** SIGTERM: it ends in order, and starts again. */
  terminate(): void;
  /** It ends for good. */
  remove(): void;
  /** When the world is over: ends the signals of all its lives, which would keep what waits for them in memory. */
  release(): void;
  stall(ms: number): void;
  skew(ms: number): void;
  /** It ends, and runs without leader election from then on. */
  leadAlone(): void;
  isLeader(): boolean;
  readonly starts: () => number;
}

/** One life of a process. */
interface Life {
  readonly scope: Scope;
  readonly stop: AbortController;
  readonly isLeader: () => boolean;
}

type LeaseRef = { readonly namespace: string; readonly name: string };

/** The leadership of a process, by an elector that runs in the scope of the process. */
function joinElection(api: ApiClient, scope: Scope, seed: number, log: Log, leases: readonly LeaseRef[]) {
  const acquired = Promise.withResolvers<void>();
  acquired.promise.catch(() => undefined);
  const [lost, stop] = [new AbortController(), new AbortController()];
  const { clock } = scope;
  let untilMs = Number.NEGATIVE_INFINITY;
  const isLeader = (): boolean => !scope.isDead() && clock.monotonicMs() < untilMs;
  const elector = createElector({
    api,
    leases,
    identity: scope.name,
    settings: readElectionTimes(electionTimes),
    clock,
    random: streamOf(seed, `${scope.name}/election`),
    log,
    report: {
      leading(ms) {
        untilMs = ms;
        acquired.resolve();
      },
      holder: () => undefined,
      rewound: () => undefined,
      ended(because) {
        untilMs = Number.NEGATIVE_INFINITY;
        const error = new LeadershipLostError(`${scope.name} is not the leader: ${because}`);
        acquired.reject(error);
        lost.abort(error);
      },
    },
  });
  let running: Promise<void> | undefined;
  return {
    isLeader,
    leadership: {
      async acquired(signal?: AbortSignal) {
        running ??= elector.run(stop.signal);
        signal?.addEventListener("abort", () => acquired.reject(signal.reason), { once: true });
        await acquired.promise;
      },
      fence() {
        if (!isLeader()) throw new LeadershipLostError(`${scope.name} does not lead`);
      },
      lost: lost.signal,
    },
    async stop() {
      stop.abort(new Error("stopped"));
      await running;
    },
  };
}

/** A text of fields that does not differ between two equal runs. */
const textOf = (fields: object): string =>
  JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? value.message : value));

/** A client of the API server for one user within a process. */
const clientOf = (
  { name, seed, network }: ProcessOptions,
  scope: Scope,
  user: string,
  maxRetries?: number,
): ApiClient =>
  withPatientWatches(
    createApiClient(
      { server: "http://127.0.0.1" },
      {
        clock: scope.clock,
        random: streamOf(seed, `${scope.name}/${user}`),
        connections: network.connect(scope),
        userAgent: `${user}-${name}`,
        ...(maxRetries === undefined ? {} : { maxRetries }),
      },
    ),
  );

/** Makes a process; it does nothing before it is started. */
export function createControllerProcess(options: ProcessOptions): ControllerProcess {
  const { name, seed, scheduler, cloud, transcript } = options;
  let { elects } = options;
  const outside = scheduler.scope(`init-${name}`);
  let starts = 0;
  let life: Life | undefined;
  let isRemoved = false;
  const stops: AbortController[] = [];

  function end(of: Life, because: string): void {
    if (life !== of) return;
    life = undefined;
    of.scope.kill();
    transcript.add("note", name, `process ends: ${because}`);
    if (!isRemoved) outside.clock.setTimer(restartMs, start);
  }

  const endNow = (because: string): void => void (life !== undefined && end(life, because));

  function start(): void {
    if (life !== undefined || isRemoved) return;
    starts++;
    const scope = scheduler.scope(`${name}${starts}`);
    const { clock } = scope;
    const log: Log = (level, message, fields = {}) =>
      transcript.add(level === "debug" ? "detail" : "note", scope.name, `${level} ${message} ${textOf(fields)}`);
    const control = clientOf(options, scope, "millwright");
    const alteration = options.alteration?.() ?? {};
    const leases = (alteration.leases ?? leaseNames).map((lease) => ({ namespace: options.namespace, name: lease }));
    const election = elects
      ? joinElection(clientOf(options, scope, "election", 0), scope, seed, log, leases)
      : undefined;
    const stop = new AbortController();
    stops.push(stop);
    const ownCloud = cloud.connect(scope);
    const made: ManagerOptions = {
      control,
      target: control,
      namespace: options.namespace,
      drivers: [createMockDriver({ cloud: alteration.cloud?.(ownCloud) ?? ownCloud })],
      settings: machineSettings,
      clock,
      random: streamOf(seed, `${scope.name}/manager`),
      log,
      ...(election === undefined ? {} : { leadership: election.leadership }),
    };
    const manager = createManager(alteration.manager?.(made) ?? made);
    const own: Life = { scope, stop, isLeader: election?.isLeader ?? (() => true) };
    life = own;
    transcript.add("note", name, "process starts");
    const run = async (): Promise<string> => {
      try {
        await manager.start(stop.signal);
        return "stopped";
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      } finally {
        await election?.stop();
      }
    };
    void run().then((because) => end(own, because));
  }

  return {
    name,
    start,
    crash: () => endNow("crash"),
    terminate: () => life?.stop.abort(new Error("SIGTERM")),
    remove() {
      isRemoved = true;
      endNow("removed");
    },
    release: () => stops.forEach((stop) => stop.abort(new Error("the simulation is over"))),
    stall: (ms) => life?.scope.stall(ms),
    skew: (ms) => life?.scope.skew(ms),
    leadAlone() {
      elects = false;
      endNow("to run without leader election");
    },
    isLeader: () => life?.isLeader() ?? false,
    starts: () => starts,
  };
}
