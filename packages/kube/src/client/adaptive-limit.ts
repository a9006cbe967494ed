import type { Clock, Timer } from "@millwright/base";

/** The outcome of a request, for the limit. */
export type RequestOutcome =
  /** Answered, the headers after so many milliseconds. */
  | { readonly kind: "answered"; readonly latencyMs: number }
  /** The server has too much to do: 429, 503, or no answer in time. */
  | { readonly kind: "throttled" }
  /** Unrelated to the load: no connection, aborted by the caller. */
  | { readonly kind: "unknown" };

/** A place that a request has. */
export interface Place {
  /** Must be called once, whatever happened. */
  leave(outcome: RequestOutcome): void;
}

/** How many requests may be under way, as a server can bear it. */
export interface AdaptiveLimit {
  /** Waits for a place, first come, first served. Rejects with the reason of the signal when that aborts first. */
  enter(signal: AbortSignal): Promise<Place>;
  counts(): { readonly limit: number; readonly inFlight: number; readonly waiting: number };
}

/** Options of {@link createAdaptiveLimit}. */
export interface AdaptiveLimitOptions {
  readonly clock: Clock;
  /** Most requests at once; where it starts. */
  readonly max: number;
}

/** Below one request at once there are pauses between them: half a request means one, and a pause as long as this. */
const pauseMs = 100;
/** One request every 1.6 s or so is the least. */
const least = 1 / 16;
/** Slower than this, and than so many times the usual, is a sign of overload. */
const slowMs = 1_000;
const slowFactor = 8;

/**
 * Makes a limit that adapts: additive increase, multiplicative decrease, as TCP does. Requests are not counted per second: a server
 * that answers at once may be asked as fast as it answers.
 *
 * - 429, 503 and timeouts halve it, an answer that is far slower than usual takes a tenth off; once per round: only by
 *   requests that were sent after the last decrease, so that sixteen rejections of one moment count as one;
 * - a good answer adds 1/limit while all of it is in use, so that it grows by one for each round of requests.
 */
export function createAdaptiveLimit({ clock, max }: AdaptiveLimitOptions): AdaptiveLimit {
  /** Between `least` and `max`. */
  let limit = max;
  let inFlight = 0;
  let usualMs: number | undefined;
  let decreasedAtMs = -Infinity;
  /** No request enters before. */
  let notBeforeMs = -Infinity;
  /** In the order of their coming. Not empty only while there is no place. */
  const waiting = new Set<() => void>();
  let timer: Timer | undefined;

  function decrease(factor: number, enteredMs: number): void {
    if (enteredMs <= decreasedAtMs) return;
    decreasedAtMs = clock.monotonicMs();
    limit = Math.max(least, limit * factor);
  }

  function learn(outcome: RequestOutcome, enteredMs: number): void {
    if (outcome.kind === "throttled") return decrease(1 / 2, enteredMs);
    if (outcome.kind === "unknown") return;
    const { latencyMs } = outcome;
    const usual = usualMs ?? latencyMs;
    // A slow phase must not become the usual before it has been noticed.
    usualMs = usual + (Math.min(latencyMs, usual * 2 + 1) - usual) / 20;
    if (latencyMs > slowMs && latencyMs > usual * slowFactor) return decrease(9 / 10, enteredMs);
    if (limit < 1) limit = Math.min(1, limit * 2);
    else if (inFlight + 1 >= Math.floor(limit)) limit = Math.min(max, limit + 1 / limit);
  }

  function admit(): void {
    while (waiting.size > 0 && inFlight < Math.max(1, Math.floor(limit))) {
      const delayMs = notBeforeMs - clock.monotonicMs();
      if (delayMs > 0) {
        timer ??= clock.setTimer(delayMs, () => {
          timer = undefined;
          admit();
        });
        return;
      }
      const [first] = waiting;
      if (first === undefined) return;
      waiting.delete(first);
      first();
    }
    if (waiting.size === 0) {
      timer?.cancel();
      timer = undefined;
    }
  }

  function occupy(): Place {
    inFlight++;
    const enteredMs = clock.monotonicMs();
    let isOver = false;
    return {
      leave(outcome) {
        if (isOver) return;
        isOver = true;
        inFlight--;
        learn(outcome, enteredMs);
        if (limit < 1) notBeforeMs = clock.monotonicMs() + pauseMs * (1 / limit - 1);
        admit();
      },
    };
  }

  return {
    enter(signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      return new Promise((resolve, reject) => {
        const enter = () => {
          signal.removeEventListener("abort", abort);
          resolve(occupy());
        };
        const abort = () => {
          waiting.delete(enter);
          admit();
          reject(signal.reason);
        };
        waiting.add(enter);
        signal.addEventListener("abort", abort, { once: true });
        admit();
      });
    },
    counts: () => ({ limit, inFlight, waiting: waiting.size }),
  };
}
