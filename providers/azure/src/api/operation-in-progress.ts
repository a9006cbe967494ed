/** The deadline of a call has passed, and Azure still processes the accepted request. */
export class OperationInProgress extends Error {
  override readonly name = "OperationInProgress";
}

/** Whether something that was thrown is a {@link OperationInProgress}, or caused by one, also by one of another copy of this package. */
export function isOperationInProgress(error: unknown): boolean {
  // Causes are few; a circle of them is not followed.
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth++) {
    if (at.name === "OperationInProgress") return true;
  }
  return false;
}
