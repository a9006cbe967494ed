import type { Clock } from "@millwright/base";

/** How long a call waits for an abandoned one of the same machine, milliseconds. As long as the host waits for drivers of its own process. */
const GRACE_MS = 60_000;

/** Calls that were canceled and still run, by machine: they may still have effects. */
export interface MachineCalls {
  /**
   * Waits until no canceled call of the machine runs: a VM must not be created after its deletion has listed VMs. A call that never ends is ignored after a minute.
   *
   * @throws the reason of the signal
   */
  settled(uid: string, signal: AbortSignal): Promise<void>;
  /** Records a call that changes something, until it ends. */
  add(uid: string, running: Promise<unknown>): void;
}

export function createMachineCalls(clock: Clock): MachineCalls {
  const running = new Map<string, Promise<void>>();
  return {
    async settled(uid, signal) {
      const before = running.get(uid);
      if (before === undefined) return;
      const done = new AbortController();
      try {
        await Promise.race([before, clock.sleep(GRACE_MS, AbortSignal.any([signal, done.signal]))]);
      } finally {
        done.abort();
      }
      signal.throwIfAborted();
    },
    add(uid, call) {
      const before = running.get(uid);
      const ended = Promise.allSettled([before, call]).then(() => {
        if (running.get(uid) === ended) running.delete(uid);
        return undefined;
      });
      running.set(uid, ended);
    },
  };
}
