import { MachineError } from "@millwright/core";
import { poll } from "@millwright/core/driver-kit";
import type { Operation } from "../api/operation.ts";
import type { Place } from "../api/requests.ts";
import type { MethodCall } from "./method-call.ts";

/** Waits for an operation. The deadline of the call ends it; the operation goes on all the same. */
export async function untilDone(begun: Operation, place: Place, call: MethodCall): Promise<Operation> {
  if (begun.isDone) return begun;
  const { session, context, random, patience } = call;
  if (begun.name === "") throw new MachineError("Unknown", "Compute Engine began an operation and did not say which");
  // A wait may end early, and should it always do so, requests must not follow each other without a pause.
  const done = await poll({ ...context, random, pauseMs: patience.pollMs }, async () => {
    const operation = await session.api.waitForOperation(place, begun.name, context.signal);
    return operation.isDone ? operation : undefined;
  });
  return done ?? begun;
}
