import type { Clock } from "@millwright/core";
import type { Connectivity } from "@millwright/kube";
import type { ConnectivityView } from "./remediation-view.ts";

/** What {@link createConnectivityWatch} needs. */
export interface ConnectivityWatchOptions {
  /** Of the caches that health is judged from. */
  readonly connectivity: readonly Connectivity[];
  readonly clock: Clock;
  /** A shorter loss is no loss, milliseconds. */
  readonly lostAfterMs: number;
  /** Called when connectivity was lost for so long. */
  readonly onLost: () => void;
  /** Called when connectivity is back that was lost, and none other is lost any more. */
  readonly onRegained: (lostForMs: number) => void;
}

/**
 * Watches whether the caches hear from their API servers. A timeout that ran while nothing was heard says nothing about the node: it starts anew when
 * connectivity is back. At the start of a process the time until the first list counts, too.
 */
export function createConnectivityWatch(options: ConnectivityWatchOptions): () => ConnectivityView {
  const { connectivity, clock, lostAfterMs, onLost, onRegained } = options;
  const isLost = (): boolean => connectivity.some((each) => each.lostForMs() > lostAfterMs);
  let regainedAt: number | undefined;
  for (const each of connectivity) {
    each.onLost(lostAfterMs, onLost);
    each.onRegained((lostForMs) => {
      if (lostForMs <= lostAfterMs) return;
      regainedAt = clock.now().getTime();
      if (!isLost()) onRegained(lostForMs);
    });
  }
  return () => ({ isLost: isLost(), regainedAt });
}
