/** Lets a bounded number of calls run at once; the others wait their turn in order. */
export type InFlightLimit = <T>(signal: AbortSignal, call: () => Promise<T>) => Promise<T>;

/** Creates a limit. A call that is aborted while waiting leaves the queue at once. */
export function createInFlightLimit(most: number): InFlightLimit {
  let running = 0;
  const waiting: (() => void)[] = [];

  const turn = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      const enter = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      signal.addEventListener("abort", leave, { once: true });
      waiting.push(enter);
    });

  return async (signal, call) => {
    signal.throwIfAborted();
    // A call that ends passes its place to the next one, so `running` changes only when the queue is empty.
    if (running >= most) await turn(signal);
    else running++;
    try {
      return await call();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
