import { rejectionCodes } from "../driver/machine-error-code.ts";
import { MachineError } from "../driver/machine-error.ts";

/**
 * The failure of a request that follows an accepted launch, such as the wait for the VM. Its code is about that request, but those of `rejectionCodes` would mean that there is no VM: the next attempt would
 * get another token, and launch a second VM. They become `Unavailable`, with the same message. An error whose token is spent remains as it is.
 */
export function asOpenOutcome(failure: MachineError): MachineError {
  const { code, message, retryAfterMs, lastKnownState, tokenIsSpent } = failure;
  if (tokenIsSpent === true || !rejectionCodes.has(code)) return failure;
  return new MachineError("Unavailable", message, {
    cause: failure,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(lastKnownState === undefined ? {} : { lastKnownState }),
  });
}
