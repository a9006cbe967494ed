import { isConfigError } from "@millwright/base";

/** Runs what changes objects without a request. A change that cannot be stored is dropped: the storage has reported it to its owner. */
export function runUnlessUnstored(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!isConfigError(error)) throw error;
  }
}

/**
 * Defers a run until the change that scheduled it has reached every watcher: the store must not be written to while it notifies
 * subscribers. Several requests before the run are one run.
 */
export function createDeferredRun(run: () => void): { schedule(): void; stop(): void } {
  let isScheduled = false;
  let isStopped = false;
  return {
    schedule() {
      if (isScheduled || isStopped) return;
      isScheduled = true;
      queueMicrotask(() => {
        isScheduled = false;
        if (!isStopped) runUnlessUnstored(run);
      });
    },
    stop() {
      isStopped = true;
    },
  };
}
