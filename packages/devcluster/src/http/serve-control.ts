import type * as z from "zod";
import { faultBody } from "../faults/fault.ts";
import { clusterFaultBody } from "../cluster-faults/cluster-fault.ts";
import type { ClusterFaults } from "../cluster-faults/cluster-faults.ts";
import type { Faults } from "../faults/faults.ts";
import { readBody } from "../request/read-body.ts";
import { field } from "../json/json.ts";
import { metricsText } from "../observability/metrics.ts";
import type { RequestLog } from "../observability/request-log.ts";
import { StatusError, badRequest, methodNotAllowed } from "../errors/status-error.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { sendBytes, sendJson } from "./response.ts";
import { type ApiRequest, readJsonBody } from "./api-request.ts";

/** The state that the server's own pages show and change. */
export interface Control {
  readonly faults: Faults;
  readonly clusterFaults: ClusterFaults;
  readonly requests: RequestLog;
  readonly store: ObjectStore;
  restart(options: { readonly keepData: boolean; readonly downMs: number }): Promise<void>;
}

/** Whether a path belongs to the server itself. Faults never affect those. */
export function isControlPath(pathname: string): boolean {
  return pathname === "/metrics" || pathname === "/millwright" || pathname.startsWith("/millwright/");
}

/**
 * Serves the server's own pages: `/metrics`, `/millwright/requests`, `/millwright/clock`, `/millwright/restart`,
 * `/millwright/faults` and `/millwright/cluster-faults` (GET lists, POST adds, DELETE removes all, DELETE with `/ID` removes
 * one).
 */
export async function serveControl(control: Control, request: ApiRequest): Promise<void> {
  const { method, pathname, response } = request;
  const [, , page = "", id, ...more] = pathname.split("/");
  if (pathname === "/metrics") {
    const text = Buffer.from(metricsText(control.requests, control.store));
    return sendBytes(response, 200, text, "text/plain; version=0.0.4; charset=utf-8");
  }
  if (more.length > 0) throw unknownPage();
  switch (page) {
    case "faults":
      return serveFaults(control.faults, faultBody, request, id);
    case "cluster-faults":
      return serveFaults(control.clusterFaults, clusterFaultBody, request, id);
    case "clock": {
      if (method === "PUT")
        control.faults.skewClock(finite(field(await readJsonBody(request.raw), "skewMs"), "skewMs"));
      else if (method !== "GET") throw methodNotAllowed();
      return sendJson(response, 200, { skewMs: control.faults.clockSkewMs });
    }
    case "requests": {
      if (method !== "GET") throw methodNotAllowed();
      const items = control.requests.latest().map((record) => ({ ...record, time: record.time.toISOString() }));
      return sendJson(response, 200, { items });
    }
    case "restart": {
      if (method !== "POST") throw methodNotAllowed();
      const body = await readJsonBody(request.raw);
      const keepData = field(body, "keepData") ?? true;
      if (typeof keepData !== "boolean") throw badRequest("keepData: expected true or false");
      const downMs = finite(field(body, "downMs") ?? 0, "downMs");
      sendJson(response, 202, { keepData, downMs });
      response.once("finish", () => void control.restart({ keepData, downMs }));
      return;
    }
    default:
      throw unknownPage();
  }
}

/** What the faults of API requests and those of the cluster have in common. */
interface FaultList<Fault> {
  add(fault: Fault): ListedFault<Fault>;
  list(): readonly ListedFault<Fault>[];
  clear(): void;
}
interface ListedFault<Fault> {
  readonly id: string;
  readonly fault: Fault;
  readonly hits?: number;
  remove(): void;
}

async function serveFaults<Fault extends object>(
  faults: FaultList<Fault>,
  schema: z.ZodType<Fault>,
  request: ApiRequest,
  id: string | undefined,
): Promise<void> {
  const { method, response, raw } = request;
  const shown = ({ id, hits, fault }: ListedFault<Fault>) => ({
    id,
    ...(hits === undefined ? {} : { hits }),
    ...fault,
  });
  if (id !== undefined) {
    const active = faults.list().find((candidate) => candidate.id === id);
    if (active === undefined) throw new StatusError(404, "NotFound", `there is no fault ${JSON.stringify(id)}`);
    if (method === "DELETE") active.remove();
    else if (method !== "GET") throw methodNotAllowed();
    return sendJson(response, 200, shown(active));
  }
  switch (method) {
    case "GET":
      return sendJson(response, 200, { items: faults.list().map(shown) });
    case "POST":
      return sendJson(response, 201, shown(faults.add(readBody(schema, await readJsonBody(raw), "fault"))));
    case "DELETE":
      faults.clear();
      return sendJson(response, 200, { items: [] });
    default:
      throw methodNotAllowed();
  }
}

function finite(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value) && Math.abs(value) <= 1e12) return value;
  throw badRequest(`${path}: expected a number of milliseconds`);
}

function unknownPage(): StatusError {
  return new StatusError(
    404,
    "NotFound",
    "the server's own pages are faults, cluster-faults, clock, requests and restart",
  );
}
