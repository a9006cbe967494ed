import type { EmulatorReply } from "../server/index.ts";
import type { GceCall } from "./call.ts";
import { operationJson, type Operation } from "./operation.ts";
import { GceRefusal, jsonReply } from "./refusal.ts";

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The response to a repeated request ID. */
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
 * Starts an operation, binds the request ID to it, and returns the response. The response shows the started operation: it is never done yet if it has a duration, however slow the computer
 * is.
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
  // An operation without duration is already done in the response.
  world.settle();
  return jsonReply(200, operationJson(operation, operation.startedAtMs));
}
