/**
 * Why something was decided. A reason is written when a state *changes*, in the same words as event, log line and condition:
 * a pass that finds everything as the last pass left it has none.
 */
export interface Reason {
  readonly type: "Normal" | "Warning";
  /** Stable word in CamelCase; what programs match. */
  readonly reason: string;
  /** One sentence for people. */
  readonly message: string;
}

/** What a pure `decide*` function answers. The executor carries it out: actions in order, then the status. */
export interface Decision<Action, Status> {
  readonly actions: readonly Action[];
  /** The status as it should read; the executor writes the difference, or nothing. Absent: leave the status alone. */
  readonly status?: Status;
  /**
   * Milliseconds until a deadline wants another pass although nothing changed. Absent: changes of the objects that were
   * read are enough.
   */
  readonly requeueAfterMs?: number;
  readonly because: readonly Reason[];
}
