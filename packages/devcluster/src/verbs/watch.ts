import type { ServerResponse } from "node:http";
import type { WatchStream } from "../faults/watch-stream.ts";
import type { Representation } from "../request/negotiation.ts";
import { type JsonObject, jsonText } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { StatusError, isStatusError } from "../errors/status-error.ts";
import type { StoreEvent } from "../storage/store-event.ts";
import type { IncludedObject } from "../resources/table.ts";
import { checkListOptions } from "../request/list-options.ts";
import { checkNotInFuture, type ObjectMatcher, parseVersion, readSelectors } from "./list.ts";
import { createWatchEncoder, lineFor } from "./watch-encoder.ts";
import { openWatchSession, startInterval, startTimer } from "./watch-session.ts";

/** For a watch, unlike for a list, an invalid version is an internal error. */
const withoutReason = (message: string): StatusError => new StatusError(500, "", message);

const defaultTimeoutSeconds = 1800;

/** As in kube-apiserver, so that the next watch begins with what is new. */
const lastBookmarkBeforeEndMs = 2_000;

/** The parameters of a watch. */
export interface WatchRequest {
  readonly definition: ResourceDefinition;
  readonly namespace: string | undefined;
  /** Set when the path has the name of one object. */
  readonly name: string | undefined;
  readonly query: URLSearchParams;
  readonly representation: Representation;
  readonly include: IncludedObject;
  /** Called once, after the head of the response was sent. */
  readonly openStream: () => WatchStream;
}

/**
 * Streams the changes of a resource as lines of JSON until the client disconnects, its timeout ends or `signal` aborts. Resolves
 * when the stream has ended. Errors before the first byte (400) are thrown; 410 arrives as an ERROR event in the stream, as in
 * kube-apiserver.
 */
export async function serveWatch(
  context: ServerContext,
  request: WatchRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, bookmarkEveryMs } = context;
  const { definition, namespace, query } = request;
  checkListOptions(query);
  const matches = readSelectors(definition, query, request.name);
  const selects: ObjectMatcher = (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) && matches(object);
  const timeoutSeconds = readSeconds(query.get("timeoutSeconds"));
  const bookmarks = query.get("allowWatchBookmarks") === "true" || query.get("allowWatchBookmarks") === "1";
  const encode = createWatchEncoder(context, definition, request.representation, request.include);
  // As in kube-apiserver, a watch from a version in the future is silent until then; only initial events of such a version are an error.
  const requested = parseVersion(query.get("resourceVersion"), "", withoutReason);
  if (query.get("sendInitialEvents") === "true") checkNotInFuture(store, requested);

  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
  response.flushHeaders();
  const session = openWatchSession(request.openStream(), response, signal, () =>
    context.log("warn", "watch client is too slow and was disconnected", { resource: definition.plural }),
  );
  const deliver = (event: StoreEvent): void => {
    if (event.resourceVersion <= (requested ?? 0)) return;
    const line = lineFor(event, selects, encode);
    if (line !== undefined) session.send(line);
  };
  const bookmark = (version = store.resourceVersion, annotations?: JsonObject): void => {
    if (version < (requested ?? 0)) return;
    session.send(`${jsonText({ type: "BOOKMARK", object: encode.bookmark(version, annotations) })}\n`);
  };

  if (wantsInitialEvents(query, requested)) {
    const version = store.resourceVersion;
    const present = store.list(definition.collection, namespace);
    // Changes during the transfer of a large initial state are sent after it.
    const later: StoreEvent[] = [];
    const unsubscribe = store.subscribe(definition.collection, (event) => later.push(event));
    await session.sendAll(present, (object) => (selects(object) ? encode.event("ADDED", object) : undefined));
    if (query.get("sendInitialEvents") === "true" && bookmarks) {
      bookmark(version, { "k8s.io/initial-events-end": "true" });
    }
    for (const event of later) deliver(event);
    unsubscribe();
  } else {
    try {
      for (const event of store.since(definition.collection, requested ?? 0)) deliver(event);
    } catch (error) {
      if (!isStatusError(error)) throw error;
      session.send(`${jsonText({ type: "ERROR", object: error.toStatus() })}\n`);
      session.end();
    }
  }
  if (session.isOver) return;
  session.onEnd(store.subscribe(definition.collection, deliver));
  session.onEnd(startTimer(clock, timeoutSeconds * 1000, session.end));
  if (bookmarks) {
    session.onEnd(startInterval(clock, bookmarkEveryMs, () => bookmark()));
    const lastMs = timeoutSeconds * 1000 - lastBookmarkBeforeEndMs;
    if (lastMs > 0) session.onEnd(startTimer(clock, lastMs, () => bookmark()));
  }
  return session.ended;
}

function readSeconds(text: string | null): number {
  if (text === null || text === "" || text === "0") return defaultTimeoutSeconds;
  return Math.max(0, Number(text)) || defaultTimeoutSeconds;
}

function wantsInitialEvents(query: URLSearchParams, requested: number | undefined): boolean {
  const sent = query.get("sendInitialEvents");
  if (sent === null) return requested === undefined || requested === 0;
  return sent === "true";
}
