import type { Clock, Timer } from "@millwright/base";

/**
 * Connectivity of a cache, or of a client, with its API server. A cache loses it with the first list or watch
 * that fails or gets no response, and regains it with the next response; its objects may be outdated in between. A client
 * loses it with a request that does not reach the server, and regains it with the next response to any request.
 */
export interface Connectivity {
  /** For how long connectivity has been lost, milliseconds; 0 while the server is reachable. Before the first response: since the cache or the client was created. */
  lostForMs(): number;
  /**
   * Calls `listener` each time connectivity is regained, with how long it was lost, milliseconds: also after the first response, and after short
   * losses, which the listener may ignore. Missed events arrive only after the call.
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

/** The writing side of a {@link Connectivity}, used by a reflector or the transport of a client. */
export interface ConnectivityRecord extends Connectivity {
  /** The server responded. */
  answered(): void;
  /** An attempt failed; the last sign of life, or its start, was at this time of `Clock.monotonicMs`. */
  failed(sinceMs: number): void;
  /** There are no more attempts: no loss is reported from here on, and no timer is left. */
  ended(): void;
}

/** Creates a record without connectivity yet. */
export function createConnectivityRecord(clock: Clock): ConnectivityRecord {
  // Invariant: a listener of losses has a timer only while connectivity is lost and it has not been called.
  const listeners = new Set<(lostForMs: number) => void>();
  const lossListeners = new Set<LossListener>();
  /** Undefined exactly while the last attempt succeeded. */
  let lostSinceMs: number | undefined = clock.monotonicMs();
  const lostForMs = (): number => (lostSinceMs === undefined ? 0 : clock.monotonicMs() - lostSinceMs);

  function watchLoss(listener: LossListener): void {
    listener.timer = clock.setTimer(Math.max(0, listener.afterMs - lostForMs()) + 1, () => listener.notify());
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
    onLost(afterMs, notify) {
      const listener: LossListener = { afterMs, notify, timer: undefined };
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
  readonly notify: () => void;
  timer: Timer | undefined;
}
