import type { Clock, SecretData } from "@millwright/base";
import {
  type ApiCall,
  type CloudExchange,
  type Driver,
  type DriverContext,
  isMachineError,
  MachineError,
  type MachineErrorCode,
} from "@millwright/core";
import type { Log, LogFields } from "@millwright/kube";
import type { CallLimit } from "./call-limit.ts";
import type { RunningCalls } from "./running-calls.ts";
import { cleanFields, cleanText, textOf } from "./driver-failure.ts";
import { type DriverScope, runInDriverScope } from "./stray-errors.ts";
import type { DriverMethod, DriverMetrics } from "../metrics/driver-metrics.ts";
import type { CloudRecorder } from "../recording/cloud-recorder.ts";

/** What calls of drivers are made with. */
export interface DriverCallerOptions {
  readonly limit: CallLimit;
  /** Called right before each call of a driver; what it throws keeps the call from being made. */
  readonly fence?: (() => void) | undefined;
  /** Absent: calls are not counted. */
  readonly metrics?: DriverMetrics | undefined;
  /** Records what drivers send to their clouds. Absent: nothing is recorded. */
  readonly recorder?: Pick<CloudRecorder, "protect" | "record"> | undefined;
  /** Follows each call until it ends, also one that was abandoned. Absent: none is followed. */
  readonly running?: Pick<RunningCalls, "begin"> | undefined;
  /** Called when a call about a machine has ended. Absent: it is only logged. */
  readonly onEnd?: ((call: EndedCall) => void) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** A call of a driver about a machine that has ended. */
export interface EndedCall {
  /** Of the Machine. */
  readonly uid: string;
  readonly driver: string;
  readonly method: DriverMethod;
  readonly code: MachineErrorCode | "OK";
  readonly durationMs: number;
}

/** One call of a method of a driver. */
export interface DriverCall {
  readonly driver: Driver;
  readonly method: DriverMethod;
  /** What its log lines name besides driver and method; the UID is that of the Machine, and is not logged. */
  readonly subject: { readonly [Key in "uid" | "machine" | "machineClass"]?: string };
  /** What must not be printed. May still grow while the call runs. */
  readonly confidential: SecretData;
  readonly invoke: (context: DriverContext) => Promise<unknown>;
  readonly signal: AbortSignal;
  /** Called with a call that was abandoned because it ignores its signal. Absent: it is ignored. */
  readonly onAbandoned?: (what: string, running: Promise<unknown>) => void;
}

/**
 * Makes a call: fenced, with a deadline, with a log that prints no secret, and counted.
 *
 * @throws MachineError Aborted when it may not be made, DeadlineExceeded when it takes too long, and whatever the driver throws
 */
export type DriverCaller = (call: DriverCall) => Promise<unknown>;

/** Calls a driver in its scope, with a signal that is aborted there as well: listeners of the driver run when it is. */
async function invokeInScope(
  scope: DriverScope,
  context: DriverContext,
  invoke: DriverCall["invoke"],
): Promise<unknown> {
  const own = new AbortController();
  const abort = (): void => runInDriverScope(scope, () => own.abort(context.signal.reason));
  context.signal.addEventListener("abort", abort, { once: true });
  try {
    return await runInDriverScope(scope, () => invoke({ ...context, signal: own.signal }));
  } finally {
    context.signal.removeEventListener("abort", abort);
  }
}

/** Makes the caller of drivers. */
export function createDriverCaller(options: DriverCallerOptions): DriverCaller {
  const { limit, fence, metrics, recorder, clock, log, running, onEnd } = options;
  /** What a driver reports to. One function for all calls of a driver, so that it may keep it. */
  const reporters = new WeakMap<Driver, Pick<DriverContext, "reportApiCall" | "recordExchange">>();
  const reportersOf = (driver: Driver): Pick<DriverContext, "reportApiCall" | "recordExchange"> => {
    const known = reporters.get(driver);
    if (known !== undefined) return known;
    const made = {
      ...(metrics === undefined
        ? {}
        : { reportApiCall: (call: ApiCall): void => metrics.countApiCall(driver.name, call) }),
      ...(recorder === undefined
        ? {}
        : { recordExchange: (exchange: CloudExchange): void => recorder.record(driver.name, exchange) }),
    };
    reporters.set(driver, made);
    return made;
  };

  /** Another process may act on the same VM by now. The state is in the objects: the leader continues. */
  const throwWhenFenced = (): void => {
    try {
      fence?.();
    } catch (error) {
      throw new MachineError("Aborted", error instanceof Error ? error.message : "this process may not act any more");
    }
  };

  return async ({ driver, method, subject, confidential, invoke, signal: outer, onAbandoned }) => {
    const what = `${method} of driver "${driver.name}"`;
    const { uid, ...named } = subject;
    const line: LogFields = { driver: driver.name, method, ...named };
    let startMs: number | undefined;
    /** What was not even begun does not count. */
    const count = (code: MachineErrorCode, failure: LogFields = {}): void => {
      if (startMs === undefined) return;
      const durationMs = clock.monotonicMs() - startMs;
      metrics?.countCall(driver.name, method, code, durationMs / 1_000);
      if (uid !== undefined) onEnd?.({ uid, driver: driver.name, method, code, durationMs });
      log("debug", "A call of a driver ended", { ...line, code, durationMs: Math.round(durationMs), ...failure });
    };
    const run = (signal: AbortSignal, remainingMs: () => number): Promise<unknown> => {
      const context: DriverContext = {
        signal,
        remainingMs,
        clock,
        log: (level, message, fields) =>
          log(level, cleanText(textOf(message), confidential), {
            ...line,
            ...(fields === undefined ? {} : { fields: cleanFields(fields, confidential) }),
          }),
        ...reportersOf(driver),
      };
      throwWhenFenced();
      recorder?.protect(confidential);
      startMs = clock.monotonicMs();
      const end = running?.begin(`${what} for ${Object.values(named).join(" ")}`);
      const reply = invokeInScope({ driver: driver.name, confidential }, context, invoke);
      if (end !== undefined) reply.then(end, end);
      return reply;
    };
    try {
      const reply = await limit(
        what,
        outer,
        run,
        onAbandoned === undefined ? undefined : (left) => onAbandoned(what, left),
      );
      count("OK");
      return reply;
    } catch (error) {
      // The one place that has the stack of the driver: what is returned from here has none.
      count(
        isMachineError(error) ? error.code : outer.aborted ? "Aborted" : "Internal",
        cleanFields({ error }, confidential),
      );
      throw error;
    }
  };
}
