import { asOpenOutcome } from "@millwright/core/driver-kit";
import { toMachineError } from "../api/errors.ts";
import type { MethodCall } from "../vm/method-call.ts";

/**
 * Handles failures of requests that follow an accepted insertion: none of them means that there is no VM.
 *
 * @param what what was tried, with its scope
 */
export const afterLaunch =
  ({ context }: Pick<MethodCall, "context">, what: string) =>
  (error: unknown): never => {
    throw asOpenOutcome(toMachineError(error, context.signal, what));
  };
