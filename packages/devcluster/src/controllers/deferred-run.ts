/**
 * Runs work after the change that asked for it has reached every watcher: a store must not be written to from inside of
 * its own announcement. Work that is asked for again before it ran is done once.
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
