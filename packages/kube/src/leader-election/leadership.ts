import { hostname } from "node:os";
import {
  type Clock,
  ConfigError,
  orAborted,
  type Random,
  systemClock,
  systemRandom,
  type Timer,
} from "@millwright/base";
import type { RewindEvidence } from "../client/server-history.ts";
import { noLog } from "../log.ts";
import type { Log } from "../log.ts";
import type { ObjectRef } from "../objects/kube-object.ts";
import { createElectionThread } from "./election-host.ts";
import type { ElectionThread } from "./election-host.ts";
import { readElectionTimes } from "./settings.ts";
import type { ElectionTimes } from "./settings.ts";
import { createSharedTerm } from "./shared-term.ts";
import type { ElectionCluster, ElectionReport } from "./thread-messages.ts";

const brand: unique symbol = Symbol.for("millwright.dev/kube/LeadershipLostError");

/**
 * Thrown instead of doing something that only the leader may do. Nothing was sent. Recognize it with {@link isLeadershipLost}, never
 * with `instanceof`.
 */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
  readonly [brand] = true;
}

/** Whether a thrown value is a {@link LeadershipLostError}, of whatever copy of this package. */
export function isLeadershipLost(error: unknown): error is LeadershipLostError {
  return typeof error === "object" && error !== null && brand in error;
}

/** Options of {@link startLeaderElection}. */
export interface LeaderElectionOptions extends ElectionTimes {
  readonly cluster: ElectionCluster;
  /**
   * The Leases, all of which are needed to lead; see `createElector`. They are created if they do not exist; their namespaces must
   * exist. Candidates for several Leases must name them in the same order.
   */
  readonly leases: readonly (ObjectRef & { readonly namespace: string })[];
  /** Must be unique to this process, also after a restart. Default: host name, "_" and a random uuid. */
  readonly identity?: string | undefined;
  /**
   * The leases are released when the event loop of the main thread was blocked for so long, milliseconds.
   * 0: never. Default 60 s.
   */
  readonly stalledAfterMs?: number | undefined;
  /** Where the election runs. Default: a thread of its own; several elections of a process should share one, which costs 50 MB. */
  readonly thread?: ElectionThread | undefined;
  /** Default `millwright-leader-election`. */
  readonly userAgent?: string | undefined;
  /** Called when a lease shows that the API server went back to an earlier state; see `ServerHistory`. */
  readonly onRewind?: ((evidence: RewindEvidence) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly log?: Log | undefined;
}

/** The part of this process in a leader election. */
export interface Leadership {
  readonly identity: string;
  /**
   * Whether this process leads *now*. Reads memory that is shared with the election thread, so that it is correct
   * even after the event loop was blocked: false as soon as another process could have become leader.
   */
  isLeader(): boolean;
  /**
   * To be called right before anything that only the leader may do.
   *
   * @throws LeadershipLostError when the process is not the leader
   */
  fence(): void;
  /** Resolves when the process leads; rejects when the election ended before, and with the reason of the signal when that aborts. */
  acquired(signal?: AbortSignal): Promise<void>;
  /** Aborts when leadership ended, for any reason: the process should exit and restart. Does not abort before leadership was acquired. */
  readonly lost: AbortSignal;
  /** The last observed process that holds one of the Leases, another one first; "" for none or unknown. */
  holder(): string;
  /**
   * Ends the participation. Held leases are released, so that the next leader need not wait until they expire; therefore
   * stop all work of the leader first. Resolves when the election has ended in its thread.
   */
  stop(): Promise<void>;
}

/** Interval of the heartbeat of the main thread, milliseconds. */
const beatMs = 1_000;

/**
 * Takes part in the leader election of one Lease or several (coordination.k8s.io/v1), compatible with client-go's. It runs in its own thread
 * with its own connection: a busy main thread does not lose the lease, and one that was blocked for too long
 * does not continue as leader.
 *
 * @throws ConfigError when the times are inconsistent
 *
 * @example
 * const leadership = startLeaderElection({ cluster: { kubeConfig: {} }, leases: [{ namespace: "kube-system", name: "my-controller" }] });
 * await leadership.acquired(signal);
 * const api = createFencedClient(createApiClient(config), leadership);
 * await runControllers(api, AbortSignal.any([signal, leadership.lost]));
 * await leadership.stop();
 */
export function startLeaderElection(options: LeaderElectionOptions): Leadership {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? noLog;
  const settings = readElectionTimes(options);
  const identity = options.identity ?? `${hostname()}_${(options.random ?? systemRandom).uuid()}`;
  if (identity === "") throw new ConfigError("leader election: identity must not be empty");

  const shared = createSharedTerm(clock);
  shared.beat();
  const acquired = Promise.withResolvers<void>();
  // Avoids an unhandled rejection when no caller waits for it.
  acquired.promise.catch(() => {});
  const lost = new AbortController();
  let holder = "";
  let isOver = false;
  let failure: string | undefined;
  let heartbeat: Timer | undefined;

  function beat(): void {
    shared.beat();
    heartbeat = clock.setTimer(beatMs, beat);
  }

  function end(because: string): void {
    if (isOver) return;
    isOver = true;
    shared.end();
    heartbeat?.cancel();
    const error = new LeadershipLostError(`${identity} is not the leader: ${because}`);
    acquired.reject(failure === undefined ? error : new ConfigError(failure));
    lost.abort(error);
  }

  function reason(): string {
    if (holder === "") return "";
    return holder === identity ? ": the lease was not renewed in time" : `: the leader is ${holder}`;
  }

  function handle(message: ElectionReport): void {
    switch (message.kind) {
      case "leading":
        return acquired.resolve();
      case "holder":
        holder = message.identity;
        return;
      case "rewound":
        return options.onRewind?.({ resource: "leases", found: message.found });
      case "ended":
        return end(message.because);
      case "failed":
        failure = message.message;
        return end(message.message);
      case "log":
        return log(message.level, message.message, message.fields);
    }
  }

  const election = (options.thread ?? createElectionThread()).start(
    {
      memory: shared.memory,
      cluster: options.cluster,
      leases: options.leases,
      identity,
      settings,
      userAgent: options.userAgent ?? "millwright-leader-election",
      stalledAfterMs: options.stalledAfterMs ?? 60_000,
    },
    { onReport: handle, onEnd: end },
  );
  beat();

  return {
    identity,
    isLeader: () => shared.isCurrent(),
    fence() {
      if (shared.isCurrent()) return;
      throw new LeadershipLostError(`${identity} is not the leader${reason()}`);
    },
    acquired: (signal) => orAborted(signal, acquired.promise),
    lost: lost.signal,
    holder: () => holder,
    stop: election.stop,
  };
}
