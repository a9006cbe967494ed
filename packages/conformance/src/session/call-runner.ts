import type { Clock } from "@millwright/base";
import type { DriverContext } from "@millwright/core";
import type { DriverScope } from "./driver-scope.ts";
import { failed } from "./outcome.ts";
import type { Recorder } from "./recorder.ts";
import type { Violations } from "./violations.ts";

/** How a call is made. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** Milliseconds until its deadline. Default: that of the run. */
  readonly deadlineMs?: number;
}

/** What calls of all drivers of a run share. */
export interface CallHost {
  readonly clock: Clock;
  readonly scope: DriverScope;
  readonly recorder: Recorder;
  readonly violations: Violations;
  /** Deadline of calls, milliseconds. */
  readonly deadlineMs: number;
  /** For how long a call may continue after its abort, milliseconds. */
  readonly graceMs: number;
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, "then") === "function";

/** The outcome of what a method returned; callbacks that a thenable calls again are a violation. */
function settle(returned: unknown, method: string, violations: Violations): Promise<unknown> {
  const problem = (text: string): void => violations.add("calls.settle-once", `${method} ${text}.`);
  if (!isThenable(returned)) {
    problem("did not return a promise");
    return Promise.resolve(returned);
  }
  if (returned instanceof Promise) return returned;
  return new Promise((resolve, reject) => {
    let count = 0;
    const once =
      (act: (value: unknown) => void) =>
      (value: unknown): void => {
        if (++count > 1) problem("settled more than once");
        else act(value);
      };
    returned.then(once(resolve), once(reject));
  });
}

/**
 * Calls a method as a host does: with a deadline, an abort signal and a log. Whatever the driver returns, throws and prints is recorded.
 *
 * @throws what the method throws; `CheckEnd` when it does not end after its abort
 */
export async function runCall<T>(
  { clock, scope, recorder, violations, deadlineMs: usualMs, graceMs }: CallHost,
  method: string,
  invoke: (context: DriverContext) => unknown,
  { signal, deadlineMs = usualMs }: CallOptions = {},
): Promise<T> {
  const controller = new AbortController();
  const startedMs = clock.monotonicMs();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort, { once: true });
  const deadline = clock.setTimer(deadlineMs, () =>
    controller.abort(new DOMException("the deadline of the call has passed", "TimeoutError")),
  );
  const context: DriverContext = {
    signal: controller.signal,
    clock,
    remainingMs: () => Math.max(0, deadlineMs - (clock.monotonicMs() - startedMs)),
    log: (_level, message, fields = {}) => recorder.log(method, message, fields),
    reportApiCall: (call) => recorder.output(`A metric of ${method}`, call),
  };
  const ended = new AbortController();
  const overdue = new Promise<never>((_, reject) => {
    const wait = (): void => {
      clock.sleep(graceMs, ended.signal).then(
        () => reject(failed(`${method} did not end within ${graceMs} ms after its signal was aborted`)),
        () => undefined,
      );
    };
    if (controller.signal.aborted) wait();
    else controller.signal.addEventListener("abort", wait, { once: true });
  });
  try {
    const answer = scope.run(() => {
      try {
        return settle(invoke(context), method, violations);
      } catch (error) {
        violations.add("calls.settle-once", `${method} threw instead of returning a promise.`);
        throw error;
      }
    });
    const reply = await Promise.race([answer, overdue]);
    recorder.reply(method, reply);
    // Replies that differ from the contract are violations; checks read them as declared.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return reply as T;
  } catch (error) {
    if (!(error instanceof Error && error.name === "CheckEnd")) recorder.error(method, error);
    throw error;
  } finally {
    deadline.cancel();
    ended.abort();
    signal?.removeEventListener("abort", abort);
  }
}
