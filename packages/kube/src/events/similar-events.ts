/** Detects many events of the same kind about one object with different messages. */
export interface SimilarEvents {
  /**
   * Records a message and returns whether it is combined with others of its kind: when the maximum number of separate messages came before
   * it, each within the span after the last.
   *
   * @param kind object, type and reason of the event, as one key
   */
  isToBeCombined(kind: string, message: string, nowMs: number): boolean;
}

interface ReportedStates {
  readonly messages: Set<string>;
  lastMs: number;
}

/** Options of {@link createSimilarEvents}. */
export interface SimilarEventsOptions {
  /** Maximum number of separate messages of a kind. */
  readonly most: number;
  /** Time without a message after which counting starts again, milliseconds. */
  readonly spanMs: number;
  /** Maximum number of kinds; the one that was silent for longest is forgotten first. */
  readonly capacity: number;
}

/** Creates an empty detector, after the aggregation in client-go's correlator. */
export function createSimilarEvents({ most, spanMs, capacity }: SimilarEventsOptions): SimilarEvents {
  // Invariants: no set of messages is larger than `most`; the kinds are in the order of their last messages.
  const kinds = new Map<string, ReportedStates>();
  return {
    isToBeCombined(kind, message, nowMs) {
      const known = kinds.get(kind);
      const recorded =
        known === undefined || nowMs - known.lastMs > spanMs ? { messages: new Set<string>(), lastMs: nowMs } : known;
      recorded.lastMs = nowMs;
      kinds.delete(kind);
      kinds.set(kind, recorded);
      const oldest = kinds.size > capacity ? kinds.keys().next() : undefined;
      if (oldest?.done === false) kinds.delete(oldest.value);
      if (recorded.messages.has(message)) return false;
      if (recorded.messages.size >= most) return true;
      recorded.messages.add(message);
      return false;
    },
  };
}
