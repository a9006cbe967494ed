import { type LeaseName, leaseNames } from "@millwright/core/machine-api";
import {
  type ElectionCluster,
  type ElectionThread,
  type ElectionTimes,
  type Leadership,
  LeadershipLostError,
  type Log,
  type ServerHistory,
  startLeaderElection,
} from "@millwright/kube";

/** How to stand for election. */
export interface ManagerElectionOptions extends ElectionTimes {
  /** The Leases are released when the event loop was blocked for so long, milliseconds. Default 60 s. */
  readonly stalledAfterMs?: number | undefined;
  readonly cluster: ElectionCluster;
  /** Shared by the namespaces of a process. Default: a thread of its own. */
  readonly thread?: ElectionThread | undefined;
  /** Namespace of the Leases: that of the machines. */
  readonly namespace: string;
  /** Receives that the API server went back to an earlier state, as the Leases show within seconds. Default: not reported. */
  readonly history?: Pick<ServerHistory, "suspect"> | undefined;
  /**
   * The Leases to hold, all at once: those of the controllers that run. Default: both, whose holder is alone: neither another Millwright nor a Go installation acts at the same time, which
   * makes taking over a running one safe. They are taken only when all are free, so that a Go process which is restarted alone never waits for a Millwright that does not lead.
   */
  readonly leases?: readonly LeaseName[];
  readonly log: Log;
}

/** Leadership over one namespace of machines. */
export interface ManagerLeadership extends Pick<Leadership, "acquired" | "fence" | "lost" | "stop"> {
  /** Whether it is known which process leads, this one or another. */
  isLeaderKnown(): boolean;
}

/** Makes a candidate. It stands for election when {@link ManagerLeadership.acquired} is called, once. */
export function createManagerLeadership({
  cluster,
  namespace,
  history,
  leases = leaseNames,
  log,
  ...times
}: ManagerElectionOptions): ManagerLeadership {
  const lost = new AbortController();
  let election: Leadership | undefined;

  return {
    lost: lost.signal,
    async acquired(signal) {
      log("info", "Waiting for leadership", { leases, namespace });
      election = startLeaderElection({
        ...times,
        cluster,
        leases: leases.map((name) => ({ namespace, name })),
        onRewind: history?.suspect,
        log: (level, message, fields) => log(level, message, { namespace, ...fields }),
      });
      const { lost: ended } = election;
      ended.addEventListener("abort", () => lost.abort(ended.reason), { once: true });
      await election.acquired(signal);
      log("info", "Leading", { namespace });
    },
    fence() {
      if (election === undefined) throw new LeadershipLostError("this process does not lead yet");
      election.fence();
    },
    isLeaderKnown: () => election !== undefined && (election.isLeader() || election.holder() !== ""),
    stop: async () => election?.stop(),
  };
}
