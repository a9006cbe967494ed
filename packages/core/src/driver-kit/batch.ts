import type { Clock } from "@millwright/base";
import { deadlineOf, type RemainingMs, setDeadline } from "./call-deadline.ts";

/** Time and signal of a caller. */
export interface Asking {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Options of {@link createBatch}. */
export interface BatchOptions<Value> {
  /** Keys that fit into one request. */
  readonly maxKeys: number;
  /** How long the first key waits for others, milliseconds: always the same, or read when the first key comes. */
  readonly windowMs: number | (() => number);
  /** Requests all keys at once. Its signal aborts when no caller waits any more. */
  readonly ask: (keys: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Value>>;
}

interface Waiting<Value> {
  readonly key: string;
  readonly remainingMs: RemainingMs;
  readonly resolve: (value: Value | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

interface Gathering<Value> {
  readonly keys: Set<string>;
  readonly waiting: Set<Waiting<Value>>;
  readonly abandoned: AbortController;
  isSent: boolean;
}

/**
 * Combines calls that come at about the same time into one request. Each response is to a request that was sent after the call, so no caller gets an
 * outdated value. If the request fails, all calls fail with the same error.
 */
export function createBatch<Value>(
  options: BatchOptions<Value>,
): (key: string, asking: Asking) => Promise<Value | undefined> {
  let gathering: Gathering<Value> | undefined;

  const answer = async (batch: Gathering<Value>): Promise<void> => {
    try {
      const found = await options.ask([...batch.keys], batch.abandoned.signal);
      for (const { key, resolve } of batch.waiting) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of batch.waiting) reject(error);
    }
  };

  const send = (batch: Gathering<Value>): void => {
    if (batch.isSent) return;
    batch.isSent = true;
    if (gathering === batch) gathering = undefined;
    if (batch.waiting.size === 0) return;
    void answer(batch);
  };

  return (key, { clock, signal }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (gathering === undefined) {
        const batch: Gathering<Value> = {
          keys: new Set(),
          waiting: new Set(),
          abandoned: new AbortController(),
          isSent: false,
        };
        gathering = batch;
        // The request may run until the latest deadline of its callers.
        setDeadline(batch.abandoned.signal, () =>
          Math.max(...[...batch.waiting].map(({ remainingMs }) => remainingMs())),
        );
        const { windowMs } = options;
        clock.setTimer(typeof windowMs === "number" ? windowMs : windowMs(), () => send(batch));
      }
      const batch = gathering;
      const leave = (): void => {
        batch.waiting.delete(waiting);
        if (batch.waiting.size === 0) {
          // The next call starts another batch.
          if (gathering === batch) gathering = undefined;
          batch.abandoned.abort(signal.reason);
        }
        reject(signal.reason);
      };
      const waiting: Waiting<Value> = {
        key,
        remainingMs: deadlineOf(signal, clock),
        resolve: (value) => {
          signal.removeEventListener("abort", leave);
          resolve(value);
        },
        reject: (reason) => {
          signal.removeEventListener("abort", leave);
          reject(reason);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      batch.waiting.add(waiting);
      batch.keys.add(key);
      if (batch.keys.size >= options.maxKeys) send(batch);
    });
}
