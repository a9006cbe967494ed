/** How long a driver waits for what its cloud shows late. */
export interface Patience {
  /** For how long a VM that was asked for may exist unseen, or without a name, milliseconds. */
  readonly visibleMs: number;
  /** Before a VM without a stored id that was not found, and was asked for a short while ago, is looked for once more, milliseconds. */
  readonly lookAgainMs: number;
  /** Between two looks at a VM that is starting or going, milliseconds: the first time. Grows to ten times as much. */
  readonly pollMs: number;
}

/** Two minutes for a VM to become visible, 3 s before another look, 0.5 s to 5 s between looks. */
export const defaultPatience: Patience = { visibleMs: 120_000, lookAgainMs: 3_000, pollMs: 500 };
