import type { Clock } from "@millwright/core";
import type { Connectivity } from "@millwright/kube";
import type { ServerProof } from "./server-proof.ts";
import type { ConnectivityView } from "./remediation-view.ts";
import { wallTimeOf } from "../model/wall-time.ts";

/** What {@link createConnectivityWatch} needs. */
export interface ConnectivityWatchOptions {
  /** Of the caches from which health is computed. */
  readonly connectivity: readonly Connectivity[];
  /** Of their API servers. */
  readonly proofs?: readonly Pick<ServerProof, "view">[];
  readonly clock: Clock;
  /** A shorter interruption does not count, milliseconds. */
  readonly lostAfterMs: number;
  /** Called when connectivity has been lost for that long. */
  readonly onLost: () => void;
  /** Called when the last connectivity that was lost is restored. */
  readonly onRegained: (lostForMs: number) => void;
}

/**
 * Watches whether the caches reach their API servers. A timeout that ran without connectivity does not show that the node is unhealthy: it restarts when
 * connectivity is restored. At the start of a process the time until the first list counts, too.
 */
export function createConnectivityWatch(options: ConnectivityWatchOptions): () => ConnectivityView {
  const { connectivity, proofs = [], clock, lostAfterMs, onLost, onRegained } = options;
  const isLost = (): boolean => connectivity.some((each) => each.lostForMs() > lostAfterMs);
  /** Time of the monotonic clock. */
  let regainedMs: number | undefined;
  for (const each of connectivity) {
    each.onLost(lostAfterMs, onLost);
    each.onRegained((lostForMs) => {
      if (lostForMs <= lostAfterMs) return;
      regainedMs = clock.monotonicMs();
      if (!isLost()) onRegained(lostForMs);
    });
  }
  return () => {
    const views = proofs.map((proof) => proof.view());
    const regained = [regainedMs, ...views.map((view) => view.regainedMs)].filter((time) => time !== undefined);
    return {
      isLost: isLost() || views.some((view) => view.isLost),
      regainedAt: regained.length === 0 ? undefined : wallTimeOf(clock, Math.max(...regained)),
      ...(views.some(({ isUnproven }) => isUnproven) ? { isUnproven: true } : {}),
    };
  };
}
