/**
 * Defers a run until the change that scheduled it has reached every watcher: the store must not be written to while it notifies
 * subscribers. Several requests before the run are one run.
 */
export function createDeferredRun(run: () => void): { ask(): void; stop(): void } {
  let isAsked = false;
  let isStopped = false;
  return {
    ask() {
      if (isAsked || isStopped) return;
      isAsked = true;
      queueMicrotask(() => {
        isAsked = false;
        if (!isStopped) run();
      });
    },
    stop() {
      isStopped = true;
    },
  };
}
