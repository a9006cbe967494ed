import { status } from "@grpc/grpc-js";
import { isApiError, isConflict, isForbidden, isNotFound, isTransient, messageOf } from "@millwright/kube";

/** Names of the codes that calls are rejected with. */
export type CallCode =
  | "FAILED_PRECONDITION"
  | "INVALID_ARGUMENT"
  | "NOT_FOUND"
  | "OUT_OF_RANGE"
  | "PERMISSION_DENIED"
  | "UNAVAILABLE"
  | "UNIMPLEMENTED";

/** A call that is rejected, with the gRPC status that the autoscaler gets. */
export class CallError extends Error {
  readonly code: number;
  constructor(code: CallCode, message: string) {
    super(message);
    this.name = "CallError";
    this.code = status[code];
  }
}

function codeOf(error: unknown): number {
  if (error instanceof CallError) return error.code;
  if (isNotFound(error)) return status.NOT_FOUND;
  // Another client was faster until the deadline: the same call may succeed.
  if (isConflict(error)) return status.ABORTED;
  if (isForbidden(error)) return status.PERMISSION_DENIED;
  if (isTransient(error)) return status.UNAVAILABLE;
  return isApiError(error) ? status.FAILED_PRECONDITION : status.INTERNAL;
}

/** What a call answers after a failure. */
export const toCallStatus = (error: unknown): { readonly code: number; readonly details: string } => ({
  code: codeOf(error),
  details: messageOf(error),
});
