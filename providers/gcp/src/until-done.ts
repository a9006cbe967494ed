import type { MethodCall } from "./method-call.ts";
import type { Operation } from "./operation.ts";
import type { Place } from "./provider-id.ts";

/** Waits for an operation. The deadline of the call ends it; the operation goes on all the same. */
export async function untilDone(begun: Operation, place: Place, { session, context }: MethodCall): Promise<Operation> {
  let operation = begun;
  while (!operation.isDone) operation = await session.api.waitForOperation(place, operation.name, context.signal);
  return operation;
}
