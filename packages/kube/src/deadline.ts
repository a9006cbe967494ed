import type { Clock } from "@millwright/base";

/** A signal that follows another one and fires by itself after a time. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the time ran out (rather than that the outer signal fired). */
  expired(): boolean;
  /** Restarts the time. */
  readonly extend: () => void;
  /** Milliseconds left, never negative. */
  remainingMs(): number;
  /** Takes the time limit away; the outer signal is still followed. */
  stop(): void;
  /** Must be called in the end: releases the timer and the listener. */
  clear(): void;
}

/**
 * Bounds something slow: the returned signal aborts when `outer` does or when `ms` have passed.
 * Like `AbortSignal.any([outer, AbortSignal.timeout(ms)])`, but on the injected clock, extendable, and released at once.
 */
export function startDeadline(clock: Clock, ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  let expired = false;
  let due = clock.monotonicMs() + ms;
  const follow = () => controller.abort(outer?.reason);
  const arm = () => clock.setTimer(Math.max(0, due - clock.monotonicMs()), fire);
  function fire(): void {
    // Extending only moves `due`, because it happens with each chunk of a watch; the timer catches up here.
    if (clock.monotonicMs() < due) {
      timer = arm();
      return;
    }
    expired = true;
    controller.abort(new DOMException(`nothing within ${ms} ms`, "TimeoutError"));
  }
  let timer = arm();
  if (outer?.aborted === true) follow();
  else outer?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    expired: () => expired,
    extend: () => {
      due = clock.monotonicMs() + ms;
    },
    remainingMs: () => Math.max(0, due - clock.monotonicMs()),
    stop: () => timer.cancel(),
    clear: () => {
      timer.cancel();
      outer?.removeEventListener("abort", follow);
    },
  };
}
