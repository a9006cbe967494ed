import type { Clock } from "@millwright/base";

/** How a server was found to have gone back, or a list to be incomplete. */
export interface RewindEvidence {
  /** `incomplete list`: the history of the server is the same, but a cache lacks objects that exist. Default: it went back. */
  readonly kind?: "incomplete list";
  /** What was listed, watched or written, for logs. */
  readonly resource: string;
  /** What the server answered, and what this client had seen before. */
  readonly found: string;
}

/**
 * Whether an API server still has the history that this client has seen. After etcd was restored from a backup it has another one: versions are lower
 * than before, or deleted objects are back. Shared by all caches of one client: what one of them finds holds for all.
 */
export interface ServerHistory {
  /** Number of the history: how often the server was found to have gone back. */
  epoch(): number;
  /**
   * Starts a new epoch.
   *
   * @param reporter listener that is not called, because it reports
   */
  report(evidence: RewindEvidence, reporter?: RewindListener): void;
  /**
   * As {@link ServerHistory.report}, for evidence that does not depend on the caches and may come late: it is of the current epoch when that has begun a moment ago.
   */
  suspect(evidence: RewindEvidence): void;
  /**
   * Calls `listener` at the start of each epoch.
   *
   * @returns ends it
   */
  onRewind(listener: RewindListener): () => void;
}

/** Called with what showed that the server went back. */
export type RewindListener = (evidence: RewindEvidence) => void;

/** So late evidence of a rewind may come that the caches have found, milliseconds: a lease is renewed each few seconds. */
const sameRewindMs = 60_000;

/** Makes the history of a server that was not seen yet. */
export function createServerHistory(clock: Pick<Clock, "monotonicMs">): ServerHistory {
  const listeners = new Set<RewindListener>();
  let epoch = 0;
  let begunMs = -Infinity;
  const report: ServerHistory["report"] = (evidence, reporter) => {
    epoch += 1;
    begunMs = clock.monotonicMs();
    for (const listener of Array.from(listeners)) if (listener !== reporter) listener(evidence);
  };
  return {
    epoch: () => epoch,
    report,
    suspect(evidence) {
      if (clock.monotonicMs() - begunMs > sameRewindMs) report(evidence);
    },
    onRewind(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
