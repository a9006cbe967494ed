import type { Leadership } from "@millwright/kube";

/** What decides whether a manager may still write and call drivers. */
export interface WriteFence {
  /** Throws when nothing may be written any more, or not yet: this process does not lead, or stopping took too long. */
  readonly fence: () => void;
  /** Aborts when nothing may be written any more, and with it the requests in flight. */
  readonly lost: AbortSignal;
  /** Aborts when stopping takes too long. */
  readonly overdue: AbortSignal;
  /** Ends all writes for ever: stopping takes too long. */
  readonly close: () => void;
}

/** Makes the fence of a manager, which leads when `leadership` does, or always without one. */
export function createWriteFence(leadership: Pick<Leadership, "fence" | "lost"> | undefined): WriteFence {
  const overdue = new AbortController();
  return {
    fence() {
      overdue.signal.throwIfAborted();
      leadership?.fence();
    },
    lost: leadership === undefined ? overdue.signal : AbortSignal.any([overdue.signal, leadership.lost]),
    overdue: overdue.signal,
    close: () => overdue.abort(new Error("stopping takes too long")),
  };
}
