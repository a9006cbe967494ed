const brand: unique symbol = Symbol.for("millwright.dev/kube/LeadershipLostError");

/**
 * Thrown instead of doing something that only the leader may do. Nothing was sent. Recognise it with {@link isLeadershipLost}, never
 * with `instanceof`.
 */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
  readonly [brand] = true;
}

/** Whether a thrown value is a {@link LeadershipLostError}, of whatever copy of this package. */
export function isLeadershipLost(error: unknown): error is LeadershipLostError {
  return typeof error === "object" && error !== null && brand in error;
}
