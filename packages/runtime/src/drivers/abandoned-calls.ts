import type { Clock } from "@millwright/base";
import type { Log } from "@millwright/kube";

/** How long a later call waits for an abandoned one, milliseconds. */
const GRACE_MS = 60_000;

/** Calls that were abandoned because they ignore their signal, by machine: they may still have effects. */
export interface AbandonedCalls {
  /** Records a call that continues although it was abandoned. */
  add(uid: string, what: string, call: Promise<unknown>): void;
  /**
   * Resolves when no abandoned call of the machine is running: a VM must not be created after its deletion has listed VMs. A call that never ends is ignored
   * after a minute.
   *
   * @throws the reason of the signal
   */
  settled(uid: string, signal: AbortSignal): Promise<void>;
}

export function createAbandonedCalls(clock: Clock, log: Log): AbandonedCalls {
  const left = new Map<string, { readonly mark: symbol; readonly what: string; readonly ended: Promise<void> }>();
  return {
    add(uid, what, call) {
      const mark = Symbol(what);
      const ended = Promise.allSettled([call]).then(() => {
        if (left.get(uid)?.mark === mark) left.delete(uid);
        return undefined;
      });
      left.set(uid, { mark, what, ended });
    },
    async settled(uid, signal) {
      const entry = left.get(uid);
      if (entry === undefined) return;
      const late = Promise.withResolvers<"late">();
      const timer = clock.setTimer(GRACE_MS, () => late.resolve("late"));
      const aborted = Promise.withResolvers<never>();
      const onAbort = (): void => aborted.reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        signal.throwIfAborted();
        if ((await Promise.race([entry.ended, late.promise, aborted.promise])) !== "late") return;
        left.delete(uid);
        log("error", "A driver ignores its abort signal; its call is given up", { call: entry.what });
      } finally {
        timer.cancel();
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}
