import { compareResourceVersions } from "../objects/resource-version.ts";

/** Those who wait until a cache has seen a version. */
export interface VersionWaiters {
  /** Resolves when `wanted` is reached, at once when `current` is that far; rejects with the reason of the signal. */
  wait(wanted: string, current: string | undefined, signal: AbortSignal | undefined): Promise<void>;
  /** Resolves when a list is complete that begins after this call; rejects with the reason of the signal. */
  nextList(signal: AbortSignal): Promise<void>;
  /** The cache is complete up to this version. */
  reached(version: string): void;
  /**
   * To be called when a list begins; the returned function, when it is complete. A list is of the most recent state, so it
   * resolves all waits before it, even if versions started again or cannot be compared.
   */
  answeredByList(): () => void;
}

interface Waiter {
  /** Absent: only a list answers. */
  readonly wanted?: string;
  readonly resolve: () => void;
}

/** Creates an empty set of waits. */
export function createVersionWaiters(): VersionWaiters {
  /** Each of them waits for a version that was not reached when last looked at. */
  const waiters = new Set<Waiter>();

  const isReached = (wanted: string, version: string | undefined): boolean => {
    if (wanted === version) return true;
    const order = compareResourceVersions(version, wanted);
    return order !== undefined && order >= 0;
  };

  function release(some: Iterable<Waiter>): void {
    for (const waiter of some) if (waiters.delete(waiter)) waiter.resolve();
  }

  function enter(wanted: Pick<Waiter, "wanted">, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const abort = () => {
        waiters.delete(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        ...wanted,
        resolve: () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      waiters.add(waiter);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  return {
    wait: (wanted, current, signal) => (isReached(wanted, current) ? Promise.resolve() : enter({ wanted }, signal)),
    nextList: (signal) => enter({}, signal),
    reached(version) {
      // Called for each event, mostly without waits.
      if (waiters.size === 0) return;
      release(Array.from(waiters).filter(({ wanted }) => wanted !== undefined && isReached(wanted, version)));
    },
    answeredByList() {
      const before = Array.from(waiters);
      return () => release(before);
    },
  };
}
