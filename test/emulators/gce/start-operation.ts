import type { GceCall } from "./call.ts";
import type { Operation } from "./operation.ts";
import { GceRefusal } from "./refusal.ts";

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The operation that a request id stands for already. */
export function replayed({ world, project, request }: GceCall): Operation | undefined {
  const requestId = request.url.searchParams.get("requestId") ?? "";
  if (requestId === "") return undefined;
  if (!uuidPattern.test(requestId) || /^[0-]+$/.test(requestId)) {
    throw new GceRefusal(
      "invalid",
      `Invalid value for field 'requestId': '${requestId}'. Must be a valid non-zero UUID.`,
    );
  }
  return world.operations.get(world.requestIds.get(`${project}/${requestId}`) ?? "");
}

/** Begins an operation and binds the request id to it. */
export function startOperation(
  { world, project, zone, user, request }: GceCall,
  about: Pick<Operation, "operationType" | "targetId" | "targetName" | "error" | "finish">,
): Operation {
  const id = world.nextId();
  const nowMs = world.nowMs();
  const operation: Operation = {
    id,
    name: `operation-${world.clock.now().getTime()}-${world.random.hex(7).slice(1)}-${world.random.hex(4)}-${world.random.hex(4)}`,
    project,
    zone,
    user,
    startedAtMs: nowMs,
    insertTime: world.timestamp(),
    doneAtMs: nowMs + world.times().operationMs,
    ...about,
  };
  world.begin(operation);
  const requestId = request.url.searchParams.get("requestId") ?? "";
  if (requestId !== "") world.requestIds.set(`${project}/${requestId}`, id);
  // What takes no time is done in the answer already.
  world.settle();
  return operation;
}
