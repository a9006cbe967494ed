import type { Clock } from "@millwright/base";
import type { DriverContext } from "../driver/driver.ts";

/** Milliseconds until a deadline; negative when it has passed. */
export type RemainingMs = () => number;

/** Duration of a call without a deadline, milliseconds. */
const defaultCallMs = 5 * 60_000;

const deadlines = new WeakMap<AbortSignal, RemainingMs>();

/** Records the deadline of everything that ends with this signal, so that requests that would end too late are not started. */
export const setDeadline = (signal: AbortSignal, remainingMs: RemainingMs): void =>
  void deadlines.set(signal, remainingMs);

/** The deadline of what ends with this signal: the recorded one, or else five minutes from now. */
export function deadlineOf(signal: AbortSignal, clock: Clock): RemainingMs {
  const endMs = clock.monotonicMs() + defaultCallMs;
  return deadlines.get(signal) ?? (() => endMs - clock.monotonicMs());
}

/** Time that is reserved at the end of a call for returning a pending response, milliseconds. */
const answerMs = 60_000;

/** The part of a call in which it may wait. */
export interface WaitingTime {
  /** The context of the call, with a signal that aborts with a TimeoutError when the part is over. */
  readonly context: DriverContext;
  /** Whether the part is over, and the call is not. */
  isOver(): boolean;
  /** Must be called when the waits have ended. */
  end(): void;
}

/**
 * Limits how long a call waits for an operation that its cloud has accepted, so that it can still return a pending response: until a minute before its deadline. A call with less than two minutes waits
 * until its deadline.
 */
export function startWaitingTime(context: DriverContext): WaitingTime {
  const { clock, signal } = context;
  const remainingMs = context.remainingMs ?? deadlineOf(signal, clock);
  const callMs = remainingMs();
  const reserveMs = callMs < 2 * answerMs ? 0 : answerMs;
  const over = new AbortController();
  const timer = clock.setTimer(callMs - reserveMs, () =>
    over.abort(new DOMException("the call has waited long enough", "TimeoutError")),
  );
  const limited = AbortSignal.any([signal, over.signal]);
  setDeadline(limited, () => remainingMs() - reserveMs);
  return {
    context: { ...context, signal: limited },
    isOver: () => over.signal.aborted && !signal.aborted,
    end: () => timer.cancel(),
  };
}
