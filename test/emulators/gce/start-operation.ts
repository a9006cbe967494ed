import type { EmulatorReply } from "../server/index.ts";
import type { GceCall } from "./call.ts";
import { operationJson, type Operation } from "./operation.ts";
import { GceRefusal, jsonReply } from "./refusal.ts";

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The answer to a request whose id stands for an operation already. */
export function replayed({ world, project, request }: GceCall): EmulatorReply | undefined {
  const requestId = request.url.searchParams.get("requestId") ?? "";
  if (requestId === "") return undefined;
  if (!uuidPattern.test(requestId) || /^[0-]+$/.test(requestId)) {
    throw new GceRefusal(
      "invalid",
      `Invalid value for field 'requestId': '${requestId}'. Must be a valid non-zero UUID.`,
    );
  }
  const known = world.operations.get(world.requestIds.get(`${project}/${requestId}`) ?? "");
  return known === undefined ? undefined : jsonReply(200, operationJson(known, world.nowMs()));
}

/**
 * Begins an operation, binds the request id to it, and gives the answer. The answer shows the operation as it began: what takes time at all is never done in it, however slow the computer
 * is that plays the cloud.
 */
export function startOperation(
  { world, project, zone, user, request }: GceCall,
  about: Pick<Operation, "operationType" | "collection" | "targetId" | "targetName" | "error" | "finish">,
): EmulatorReply {
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
  return jsonReply(200, operationJson(operation, operation.startedAtMs));
}
