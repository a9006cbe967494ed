import { type GceAction, type GceCall, knownParameters } from "./call.ts";
import { readFilter } from "./filter.ts";
import { type Operation, operationJson, zoneUrl } from "./operation.ts";
import { pageOf } from "./pages.ts";
import { jsonReply, notFound } from "./refusal.ts";

/** Compute Engine's limit for one wait. */
const longestWaitMs = 120_000;

/** By id or name. */
function find({ world, project, zone, name }: GceCall): Operation {
  const found =
    world.operations.get(name) ?? [...world.operations.values()].find((operation) => operation.name === name);
  if (found !== undefined && found.project === project && found.zone === zone) return found;
  throw notFound(`projects/${project}/zones/${zone}/operations/${name}`);
}

/** `zoneOperations.get` */
export const getOperation: GceAction = (call) => {
  knownParameters(call);
  return jsonReply(200, operationJson(find(call), call.world.nowMs()));
};

/** `zoneOperations.wait`: responds when the operation is done, or after a while with its current state. */
export const waitForOperation: GceAction = async (call) => {
  const { world, request } = call;
  knownParameters(call);
  const operation = find(call);
  const untilMs = Math.min(operation.doneAtMs, world.nowMs() + (world.options.waitMs ?? longestWaitMs));
  // Timers may fire a moment early.
  while (world.nowMs() < untilMs) await world.clock.sleep(Math.ceil(untilMs - world.nowMs()), request.signal);
  world.settle();
  return jsonReply(200, operationJson(operation, world.nowMs()));
};

/** `zoneOperations.list` */
export const listOperations: GceAction = (call) => {
  const { world, project, zone } = call;
  const parameters = knownParameters(call, "filter", "maxResults", "pageToken");
  const fits = readFilter(parameters.get("filter") ?? "");
  const nowMs = world.nowMs();
  const operations = [...world.operations.values()].filter((operation) => {
    if (operation.project !== project || operation.zone !== zone) return false;
    const shown = operationJson(operation, nowMs);
    return fits((field) => (typeof shown[field] === "string" ? shown[field] : undefined));
  });
  const page = pageOf(operations, parameters);
  return jsonReply(200, {
    kind: "compute#operationList",
    id: `projects/${project}/zones/${zone}/operations`,
    ...page,
    ...(page.items === undefined ? {} : { items: page.items.map((operation) => operationJson(operation, nowMs)) }),
    selfLink: `${zoneUrl(project, zone)}/operations`,
  });
};
