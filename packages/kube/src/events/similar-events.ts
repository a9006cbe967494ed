/** Notices when one object is told the same kind of thing again and again in ever new words. */
export interface SimilarEvents {
  /**
   * Takes note of a message and says whether it is to be combined with others of its kind: when as many different ones as are told one by one came before
   * it, none more than the span after the last.
   *
   * @param kind object, type and reason of the event, as one key
   */
  isToBeCombined(kind: string, message: string, nowMs: number): boolean;
}

interface ReportedStates {
  readonly messages: Set<string>;
  lastMs: number;
}

/** How much is remembered, and for how long. */
export interface SimilarEventsOptions {
  /** Different messages of a kind that are told one by one. */
  readonly most: number;
  /** Time without any after which counting starts anew, milliseconds. */
  readonly spanMs: number;
  /** Kinds that are remembered; the one that was silent for longest is forgotten first. */
  readonly capacity: number;
}

/** Makes an empty memory of events, after the aggregation in client-go's correlator. */
export function createSimilarEvents({ most, spanMs, capacity }: SimilarEventsOptions): SimilarEvents {
  // Invariants: no set of messages is larger than `most`; the kinds are in the order in which they were last told.
  const kinds = new Map<string, ReportedStates>();
  return {
    isToBeCombined(kind, message, nowMs) {
      const known = kinds.get(kind);
      const told =
        known === undefined || nowMs - known.lastMs > spanMs ? { messages: new Set<string>(), lastMs: nowMs } : known;
      told.lastMs = nowMs;
      kinds.delete(kind);
      kinds.set(kind, told);
      const oldest = kinds.size > capacity ? kinds.keys().next() : undefined;
      if (oldest?.done === false) kinds.delete(oldest.value);
      if (told.messages.has(message)) return false;
      if (told.messages.size >= most) return true;
      told.messages.add(message);
      return false;
    },
  };
}
