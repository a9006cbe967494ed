import type { Clock, Timer } from "@millwright/base";

/**
 * Connectivity of a cache, or of a whole client, with its API server. That of a cache is there while lists and watches are in order, however quiet they are, and lost from the first one
 * that fails, or gets no answer, until the next one that is answered. What a cache holds while connectivity is lost may be old news. That of a client is
 * lost from a request that found no server to the next one, whatever it was for, that was answered.
 */
export interface Connectivity {
  /** For how long connectivity has been lost, milliseconds; 0 while it is there. Before the first answer: since the cache or the client was made. */
  lostForMs(): number;
  /**
   * Calls `listener` each time connectivity is back, with how long it was lost, milliseconds: also after the first answer, and after hitches of
   * no importance, so ask for as much as matters. What was missed arrives only after the call.
   *
   * @returns ends it
   */
  onRegained(listener: (lostForMs: number) => void): () => void;
  /**
   * Calls `listener` each time connectivity has been lost for longer than `afterMs`, once per loss. A loss that lasts already counts.
   *
   * @returns ends it
   */
  onLost(afterMs: number, listener: () => void): () => void;
}

/** The writing side of a {@link Connectivity}: what a reflector, or the transport of a client, notes. */
export interface ConnectivityRecord extends Connectivity {
  /** The server answered. */
  answered(): void;
  /** An attempt failed that gave the last sign of life, or began, at this time of `Clock.monotonicMs`. */
  failed(sinceMs: number): void;
  /** Nobody tries any more: no loss is told from here on, and no timer is left. */
  ended(): void;
}

/** Makes a record in which there was no connectivity yet. */
export function createConnectivityRecord(clock: Clock): ConnectivityRecord {
  // Invariant: a listener of losses has a timer only while connectivity is lost and it has not been told.
  const listeners = new Set<(lostForMs: number) => void>();
  const lossListeners = new Set<LossListener>();
  /** Undefined exactly while the last attempt is in order. */
  let lostSinceMs: number | undefined = clock.monotonicMs();
  const lostForMs = (): number => (lostSinceMs === undefined ? 0 : clock.monotonicMs() - lostSinceMs);

  function watchLoss(listener: LossListener): void {
    listener.timer = clock.setTimer(Math.max(0, listener.afterMs - lostForMs()) + 1, () => listener.tell());
  }
  function forgetLoss(): void {
    for (const { timer } of lossListeners) timer?.cancel();
  }

  return {
    lostForMs,
    onRegained(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onLost(afterMs, tell) {
      const listener: LossListener = { afterMs, tell, timer: undefined };
      lossListeners.add(listener);
      if (lostSinceMs !== undefined) watchLoss(listener);
      return () => {
        listener.timer?.cancel();
        lossListeners.delete(listener);
      };
    },
    answered() {
      if (lostSinceMs === undefined) return;
      const lost = lostForMs();
      lostSinceMs = undefined;
      forgetLoss();
      for (const listener of Array.from(listeners)) listener(lost);
    },
    failed(sinceMs) {
      if (lostSinceMs !== undefined) return;
      lostSinceMs = sinceMs;
      for (const listener of lossListeners) watchLoss(listener);
    },
    ended: forgetLoss,
  };
}

interface LossListener {
  readonly afterMs: number;
  readonly tell: () => void;
  timer: Timer | undefined;
}
