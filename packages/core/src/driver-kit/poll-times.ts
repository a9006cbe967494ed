/** How long a driver waits for what its cloud shows late. */
export interface PollTimes {
  /** For how long a requested VM may be invisible, or without a name, milliseconds. */
  readonly visibleMs: number;
  /** Delay before a second lookup of a recently requested VM that was not found and has no stored id, milliseconds. */
  readonly lookAgainMs: number;
  /** First interval between two lookups of a VM that is starting or being deleted, milliseconds. Grows to ten times as much. */
  readonly pollMs: number;
}

/** Two minutes for a VM to become visible, 3 s before a second lookup, 0.5 s to 5 s between lookups. */
export const defaultPollTimes: PollTimes = { visibleMs: 120_000, lookAgainMs: 3_000, pollMs: 500 };
