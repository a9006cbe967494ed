import {
  type ElectionCluster,
  type ElectionTimes,
  type Leadership,
  LeadershipLostError,
  type Log,
  type ServerHistory,
  startLeaderElection,
} from "@millwright/kube";

/**
 * The Leases of MCM's two processes, in the order in which they are taken. The holder of both is alone: neither another Millwright nor a Go
 * installation acts at the same time, which is what makes taking over a running one safe (MCM, `pkg/util/provider/app/app.go` and
 * `cmd/machine-controller-manager/app/controllermanager.go`). The order keeps two candidates from holding one each for ever.
 */
export const leaseNames = ["machine-controller-manager", "machine-controller"] as const;

/** How to stand for election. */
export interface ManagerElectionOptions extends ElectionTimes {
  readonly cluster: ElectionCluster;
  /** Namespace of the Leases: that of the machines. */
  readonly namespace: string;
  /** Receives that the API server went back to an earlier state, as the Leases show within seconds. Default: not reported. */
  readonly history?: Pick<ServerHistory, "suspect"> | undefined;
  readonly log: Log;
}

/** Leadership over one namespace of machines. */
export interface ManagerLeadership extends Pick<Leadership, "acquired" | "fence" | "lost"> {
  /** Gives the leases back, the last first. To be called when nothing acts any more. */
  stop(): Promise<void>;
}

/** Makes a candidate. It stands for election when {@link ManagerLeadership.acquired} is called, once. */
export function createManagerLeadership({
  cluster,
  namespace,
  history,
  log,
  ...times
}: ManagerElectionOptions): ManagerLeadership {
  const lost = new AbortController();
  const elections: Leadership[] = [];
  let isAcquired = false;

  return {
    lost: lost.signal,
    async acquired(signal) {
      const either = signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]);
      for (const name of leaseNames) {
        log("info", "Waiting for leadership", { lease: name, namespace });
        const election = startLeaderElection({
          ...times,
          cluster,
          lease: { namespace, name },
          onRewind: history?.suspect,
          log,
        });
        elections.push(election);
        election.lost.addEventListener("abort", () => lost.abort(election.lost.reason), { once: true });
        await election.acquired(either);
      }
      isAcquired = true;
      log("info", "Leading", { namespace });
    },
    fence() {
      if (!isAcquired) throw new LeadershipLostError("this process does not lead yet");
      for (const election of elections) election.fence();
    },
    async stop() {
      for (const election of elections.splice(0).toReversed()) await election.stop();
    },
  };
}
