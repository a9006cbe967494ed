import { AsyncLocalStorage } from "node:async_hooks";
import { type Clock, type SecretData, systemClock } from "@millwright/base";
import type { Log } from "@millwright/kube";
import { createLineLimiter, type LineLimit } from "../logging/line-limit.ts";
import { cleanFields } from "./driver-failure.ts";

/** Whose code runs. */
export interface DriverScope {
  readonly driver: string;
  /** What must not be printed. May still grow. */
  readonly confidential: SecretData;
}

const scopes = new AsyncLocalStorage<DriverScope>();
/** By driver, since the process started. */
const counts = new Map<string, number>();

/**
 * Runs code of a driver so that errors outside of its calls are recognized: those of promises that nothing waits for, of timers, and of event emitters
 * without a listener.
 *
 * Everything that the code starts, directly or not, belongs to the scope: Node follows promises, timers, handles of sockets and child
 * processes, and threads. An error is not recognized where the driver is called back from elsewhere, such as from a queue of another driver or a native add-on, and with Node 22
 * in `queueMicrotask`. It counts as our own then, and ends the process in order. Nothing helps against a driver that exits the process; the watchdog notices one that blocks it.
 */
export const runInDriverScope = <Result>(scope: DriverScope, run: () => Result): Result => scopes.run(scope, run);

/** How many errors each driver had outside of its calls. */
export const strayErrorCounts = (): ReadonlyMap<string, number> => counts;

/** What {@link superviseProcess} does with errors. */
export interface ProcessSupervision {
  readonly log: Log;
  /** Called with an exception or a rejection that nothing handled, and that is no driver's. */
  readonly onOwnError: (error: unknown) => void;
  /** Default: the system's. */
  readonly clock?: Pick<Clock, "monotonicMs">;
}

/** The log lines about each driver. */
const lineLimit: LineLimit = { burst: 10, periodMs: 60_000 };

/**
 * Keeps errors of drivers outside of their calls from ending the process. Each is counted; per driver, ten are logged at once and then one a minute.
 *
 * @returns ends the supervision
 */
export function superviseProcess({ log, onOwnError, clock = systemClock }: ProcessSupervision): () => void {
  const lines = createLineLimiter(lineLimit, clock);
  const handle = (error: unknown): void => {
    const scope = scopes.getStore();
    if (scope === undefined) return onOwnError(error);
    const { driver, confidential } = scope;
    counts.set(driver, (counts.get(driver) ?? 0) + 1);
    const leftOut = lines.admit(driver);
    if (leftOut === undefined) return;
    const missing = leftOut === 0 ? {} : { leftOut };
    const fields = { ...cleanFields({ error }, confidential), driver, ...missing };
    // Outside of the scope: what logging starts is ours.
    scopes.exit(() => log("error", "A driver failed outside of its calls", fields));
  };
  process.on("uncaughtException", handle);
  process.on("unhandledRejection", handle);
  return () => {
    process.off("uncaughtException", handle);
    process.off("unhandledRejection", handle);
  };
}
