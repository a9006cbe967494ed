import type { Clock } from "@millwright/base";
import { deadlineOf, type RemainingMs, setDeadline } from "./call-deadline.ts";

/** Who asks, and until when. */
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
  /** Asks for all keys at once. Its signal aborts when nobody waits for the answer any more. */
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
 * Makes one request out of the questions that come at about the same time. Every answer is of a request that was sent after its question came, so nobody reads
 * what was true before. When the request fails all fail with the same error.
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
        // It goes on as long as anyone can wait for it.
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
          // Who comes next starts another one.
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
