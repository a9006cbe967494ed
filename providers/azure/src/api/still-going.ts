/** The time of a call is over, and Azure goes on with what it has accepted. */
export class StillGoing extends Error {
  override readonly name = "StillGoing";
}

/** Whether something that was thrown is a {@link StillGoing}, or came of one; of another copy of this package, too. */
export function isStillGoing(error: unknown): boolean {
  // Causes are few; a circle of them is not followed.
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth++) {
    if (at.name === "StillGoing") return true;
  }
  return false;
}
