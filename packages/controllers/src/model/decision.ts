/**
 * Why something was decided. A reason is reported when a state *changes*, in the same words as event, log line and condition:
 * a reconcile that changes nothing has none.
 */
export interface Reason {
  readonly type: "Normal" | "Warning";
  /** Stable reason in CamelCase; programs match it. */
  readonly reason: string;
  /** One sentence for people. */
  readonly message: string;
}

/** The result of a pure `decide*` function. The executor carries it out: actions in order, then the status. */
export interface Decision<Action, Status> {
  readonly actions: readonly Action[];
  /** The desired status; the executor writes the difference, if any. Absent: the status is kept. */
  readonly status?: Status;
  /** Whether the status may be lost: the actions enqueue the object, and the next reconcile decides one that contains it. Default: false. */
  readonly isStatusBrief?: boolean;
  /**
   * Milliseconds until a deadline requires another reconcile without any change. Absent: changes of the objects that were
   * read are enough.
   */
  readonly requeueAfterMs?: number;
  readonly because: readonly Reason[];
}
