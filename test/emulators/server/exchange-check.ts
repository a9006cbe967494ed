import type { Emulator, EmulatorReply, EmulatorRequest, RequestSubject } from "./emulator.ts";

/** Compares an exchange with the vendor's model, and returns the response. */
export type CheckExchange = <Reply extends EmulatorReply | undefined>(
  subject: Pick<RequestSubject, "operation">,
  request: EmulatorRequest,
  reply: Reply,
) => Reply;

/**
 * Creates the check of all exchanges with one emulator.
 *
 * @param onFailure receives each difference once, as an error, and what the comparison throws
 */
export function createExchangeCheck(
  emulator: Pick<Emulator, "findDifferences">,
  onFailure: (failure: unknown) => void,
): CheckExchange {
  const reported = new Set<string>();
  return ({ operation }, request, reply) => {
    try {
      for (const difference of emulator.findDifferences?.({ operation, request, reply }) ?? []) {
        const message = `${operation === "" ? "unknown operation" : operation}: ${difference}`;
        if (reported.has(message)) continue;
        reported.add(message);
        onFailure(new Error(message));
      }
    } catch (error) {
      onFailure(error);
    }
    return reply;
  };
}
