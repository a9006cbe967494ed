/** Lets a bounded number of calls run at once; the others wait their turn in order. */
export type InFlightLimit = <T>(signal: AbortSignal, call: () => Promise<T>) => Promise<T>;

/** Creates a limit. Who is aborted while waiting leaves the queue at once. */
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
    // Whoever ends hands its place on, so `running` changes only at the edges.
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
