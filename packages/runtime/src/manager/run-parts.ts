import type { Clock, Timer } from "@millwright/base";
import type { EventRecorder, Log } from "@millwright/kube";
import type { WriteFence } from "./write-fence.ts";

/** How long controllers may take to stop, milliseconds. With the events and the leases, all of it ends within Kubernetes' 30 s. */
const STOP_MS = 10_000;

/** How long pending events may take at the end, milliseconds. */
const FLUSH_MS = 2_000;

/** The two ends of a manager, in their order. */
export interface EndSignals {
  /** Aborts when the manager is to stop, or a part has failed: no new reconcile begins. */
  readonly stopping: AbortSignal;
  /** Aborts when the last controller has stopped, or a part has failed. */
  readonly stopped: AbortSignal;
}

/** The parts of a manager that run side by side, and what follows them. */
export interface ManagerParts {
  /** Runs the controllers until `stopping` aborts, and their clean-up after it. */
  readonly runControllers: (ends: EndSignals) => Promise<void>;
  /** Starts everything else. Each part ends with one of the signals. */
  readonly startOthers: (ends: EndSignals) => readonly Promise<void>[];
  /** Ends the driver calls in flight. */
  readonly close: () => Promise<void>;
  /** When all parts have ended, or may no longer write. */
  readonly onEnd: () => void;
  readonly events: Pick<EventRecorder, "flush" | "close">;
  readonly fence: Pick<WriteFence, "overdue" | "close">;
  readonly clock: Clock;
  readonly log: Log;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Rejects when leadership ends, and resolves when the signal aborts before that. */
export const untilLost = (lost: AbortSignal, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const lose = (): void => reject(lost.reason);
    if (lost.aborted) return lose();
    // SIGTERM may have come before the manager was started.
    if (signal.aborted) return resolve();
    lost.addEventListener("abort", lose, { once: true });
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Writes the events that wait, for a limited time. */
async function flushEvents(events: ManagerParts["events"], clock: Pick<Clock, "setTimer">): Promise<void> {
  const late = new AbortController();
  const timer = clock.setTimer(FLUSH_MS, () => late.abort(new Error("the events took too long")));
  await events.flush(late.signal).catch(() => undefined);
  timer.cancel();
  events.close();
}

/** Closes the fence when stopping takes too long after the signal. Returns a function that ends the limit. */
function limitStop({ fence, clock, log }: ManagerParts, signal: AbortSignal): () => void {
  let timer: Timer | undefined;
  const expire = (): void => {
    log("warn", "Stopping takes too long: nothing is written any more", { timeoutMs: STOP_MS });
    fence.close();
  };
  signal.addEventListener("abort", () => (timer = clock.setTimer(STOP_MS, expire)), { once: true });
  return () => timer?.cancel();
}

/**
 * Runs the parts of a manager until the signal aborts, and stops them: first the controllers, then what they need, then the events. Rejects when a part fails, after all have stopped. When stopping takes
 * too long it resolves without those that still run, which can write nothing any more.
 */
export async function runParts(parts: ManagerParts, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const ends: EndSignals = { stopping: AbortSignal.any([signal, stop.signal]), stopped: stop.signal };
  const endLimit = limitStop(parts, signal);
  const controllersEnded = parts.runControllers(ends).then(() => stop.abort(new Error("stopped")));
  const running = [controllersEnded, ...parts.startOthers(ends)];
  const { overdue } = parts.fence;
  try {
    await Promise.race([Promise.all(running), aborted(overdue)]);
  } finally {
    // One part that failed takes the others with it: half a manager would be worse than none.
    stop.abort(new Error("another part of the manager failed"));
    await parts.close();
    await Promise.race([Promise.allSettled(running), aborted(overdue)]);
    endLimit();
    parts.onEnd();
    await flushEvents(parts.events, parts.clock);
  }
}
