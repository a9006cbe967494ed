import { orAborted } from "@millwright/base";
import type { RewindEvidence, ServerHistory } from "../client/server-history.ts";

/** Whether a cache is of the current history of its server, and an end for what is under way when that changes. */
export interface HistoryFollower {
  /** Whether a list was complete in the current history. */
  isCurrent(): boolean;
  /** Whether the server went back since the last complete list. */
  isOutdated(): boolean;
  /** Resolves when {@link HistoryFollower.isCurrent}. */
  current(signal?: AbortSignal): Promise<void>;
  /** A signal for one list or watch: aborts with `signal`, or when another cache finds that the server went back. */
  attempt(signal: AbortSignal): AbortSignal;
  /** Ends what is under way: the next attempt is a list. */
  interrupt(): void;
  /** Whether the last attempt was ended so, or by another cache. */
  isInterrupted(): boolean;
  /** Reports that the server went back, unless that is known since the last complete list. */
  report(evidence: RewindEvidence): void;
  /** Reports what was found outside of this cache's own lists and watches, and ends its attempt like those of the others. */
  reportFromOutside(evidence: RewindEvidence): void;
  /** A list that began in the current history, or showed that it is a new one, is complete. */
  listed(): void;
}

/** Follows the history of a server for one cache that holds nothing yet. */
export function followHistory(history: ServerHistory): HistoryFollower {
  let listedIn: number | undefined;
  let interruption = new AbortController();
  let sync = Promise.withResolvers<void>();
  let isSettled = false;
  const isCurrent = (): boolean => listedIn === history.epoch();
  const isOutdated = (): boolean => listedIn !== undefined && !isCurrent();

  const expire = (): void => {
    if (isSettled) sync = Promise.withResolvers();
    isSettled = false;
  };
  const onRewind = (): void => {
    expire();
    interruption.abort(new Error("the API server went back to an earlier state"));
  };
  history.onRewind(onRewind);

  return {
    isCurrent,
    isOutdated,
    current: (signal) => orAborted(signal, sync.promise),
    attempt(signal) {
      interruption = new AbortController();
      return AbortSignal.any([signal, interruption.signal]);
    },
    interrupt: () => interruption.abort(new Error("everything is listed again")),
    isInterrupted: () => interruption.signal.aborted,
    report(evidence) {
      if (isOutdated()) return;
      history.report(evidence, onRewind);
      expire();
    },
    reportFromOutside(evidence) {
      if (!isOutdated()) history.report(evidence);
    },
    listed() {
      listedIn = history.epoch();
      isSettled = true;
      sync.resolve();
    },
  };
}
