import { MachineError } from "@millwright/core";
import type { Operation } from "../api/operation.ts";
import type { Place } from "../api/requests.ts";
import type { MethodCall } from "./method-call.ts";

/** Waits for an operation. The deadline of the call ends it; the operation goes on all the same. */
export async function untilDone(begun: Operation, place: Place, { session, context }: MethodCall): Promise<Operation> {
  if (begun.isDone) return begun;
  if (begun.name === "") throw new MachineError("Unknown", "Compute Engine started an operation and returned no name");
  return session.awaitOperation(place, begun.name, context);
}
