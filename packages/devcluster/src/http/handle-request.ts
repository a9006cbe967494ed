import type { IncomingMessage, ServerResponse } from "node:http";
import { type Authenticator, unauthorized } from "../access/authenticate.ts";
import { allowAll, type Authorizer, forbid } from "../access/authorize.ts";
import { impersonated } from "../access/impersonate.ts";
import type { User } from "../access/user.ts";
import type { FaultSource } from "../faults/faults.ts";
import { resetConnection } from "../faults/lost-responses.ts";
import { applyRequestFaults } from "../faults/request-faults.ts";
import { openWatchStream } from "../faults/watch-stream.ts";
import type { ServerContext } from "../resources/server-context.ts";
import type { RequestLog } from "../observability/request-log.ts";
import { internalError, isStatusError } from "../errors/status-error.ts";
import { sendError } from "./response.ts";
import type { ApiRequest } from "./api-request.ts";
import { rejectForeignCallers } from "./loopback-guard.ts";
import { attributesOf, type RequestAttributes } from "../request/request-attributes.ts";
import { serve } from "./serve.ts";
import { type Control, isControlPath, serveControl } from "./serve-control.ts";

/** What handling a request needs before it reaches a verb. */
export interface RequestHandler {
  readonly context: ServerContext;
  readonly faults: FaultSource;
  readonly requests: RequestLog;
  readonly control: Control;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
}

/** Handles one HTTP request: guard, faults, service, log. Never rejects. `signal` aborts when the server closes. */
export async function handleRequest(
  handler: RequestHandler,
  raw: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { context, requests } = handler;
  const { clock, log } = context;
  const time = clock.now();
  const startedMs = clock.monotonicMs();
  response.setHeader("date", time.toUTCString());
  let attributes: RequestAttributes | undefined;
  let user: User | undefined;
  try {
    rejectForeignCallers(raw);
    const url = new URL(raw.url ?? "/", "http://localhost");
    attributes = attributesOf(raw, url);
    user = handler.authenticator.userOf(raw);
    user = impersonated(raw, user, handler.authorizer);
    await answer(handler, attributes, user, url, raw, response, signal);
  } catch (error) {
    if (!isStatusError(error) && !response.destroyed) {
      log("error", "Failed to serve a request", { action: raw.method, path: raw.url, error });
    }
    if (response.headersSent || response.destroyed) response.destroy();
    else {
      if (!raw.complete) response.setHeader("connection", "close");
      sendError(
        response,
        isStatusError(error) ? error : internalError(error instanceof Error ? error.message : "unknown"),
      );
    }
  }
  if (attributes === undefined || isControlPath(attributes.path)) return;
  requests.add(attributes, {
    time,
    status: response.headersSent ? response.statusCode : 0,
    durationMs: clock.monotonicMs() - startedMs,
    user: user?.name ?? "",
  });
}

async function answer(
  { context, faults, requests, control, authenticator, authorizer }: RequestHandler,
  attributes: RequestAttributes,
  user: User,
  url: URL,
  raw: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const request: ApiRequest = {
    method: raw.method ?? "GET",
    pathname: url.pathname,
    query: url.searchParams,
    raw,
    response,
    signal,
    access: { user, authorizer, userOfToken: authenticator.userOfToken },
    openStream: () => openWatchStream(response, attributes, faults, context.clock),
  };
  if (!authorizer.allows(user, attributes)) {
    if (authorizer === allowAll) throw unauthorized();
    forbid(user, attributes);
  }
  if (isControlPath(url.pathname)) return serveControl(control, request);
  const effects = faults.forRequest(attributes);
  const store = await applyRequestFaults(effects, context.store, response, context.clock, signal);
  if (store === undefined) return;
  const served = store === context.store ? context : { ...context, store };
  if (attributes.verb !== "watch") return serve(served, request);
  const ended = [
    requests.watchStarted(attributes),
    faults.watching({ attributes, reset: () => resetConnection(response) }),
  ];
  try {
    await serve(served, request);
  } finally {
    for (const end of ended) end();
  }
}
