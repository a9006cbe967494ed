import type { ServerResponse } from "node:http";
import type { Timer } from "@millwright/base";
import type { StoredObject } from "../objects/stored-object.ts";
import type { WatchStream } from "../faults/watch-stream.ts";
import type { Representation } from "../request/negotiation.ts";
import { type JsonObject, jsonText } from "../json/json.ts";
import { apiVersionOf, type ResourceDefinition } from "../resources/resource-definition.ts";
import { type ServerContext, shown } from "../resources/server-context.ts";
import { StatusError, isStatusError } from "../errors/status-error.ts";
import type { StoreEvent } from "../storage/store-event.ts";
import { textIn, textOf } from "../storage/object-text.ts";
import { type IncludedObject, partialObject, tableOf } from "../resources/table.ts";
import { checkListOptions } from "../request/list-options.ts";
import { type ObjectMatcher, readSelectors, readVersion } from "./list.ts";

/** For a watch, unlike for a list, an invalid version is an internal error. */
const withoutReason = (message: string): StatusError => new StatusError(500, "", message);

/** A client with this much unread is disconnected; it returns with its last version. */
const unreadLimitBytes = 16 * 1024 * 1024;
/** The initial state is sent in parts of this size, as fast as the client reads. */
const initialChunkBytes = 1024 * 1024;
const bookmarkEveryMs = 60_000;
const defaultTimeoutSeconds = 1800;

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
  const { store, clock } = context;
  const { definition, namespace, query } = request;
  checkListOptions(query);
  const matches = readSelectors(definition, query, request.name);
  const selects: ObjectMatcher = (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) && matches(object);
  const timeoutSeconds = readSeconds(query.get("timeoutSeconds"));
  const bookmarks = query.get("allowWatchBookmarks") === "true" || query.get("allowWatchBookmarks") === "1";
  const encode = createEncoder(context, request);
  const requested = readVersion(context, query.get("resourceVersion"), "", withoutReason);
  const initial = wantsInitialEvents(query, requested);

  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const timers: Timer[] = [];
  let unsubscribe = (): void => {};
  let isOver = false;
  let stream: WatchStream | undefined;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    unsubscribe();
    for (const timer of timers) timer.cancel();
    signal.removeEventListener("abort", finish);
    response.off("close", finish);
    stream?.end();
    end();
  };
  const send = (line: string): void => {
    if (isOver || stream === undefined) return;
    stream.line(line);
    if (stream.unreadBytes <= unreadLimitBytes) return;
    context.log("warn", "watch client is too slow and was disconnected", { resource: definition.plural });
    finish();
    response.destroy();
  };
  const deliver = (event: StoreEvent): void => {
    const line = lineFor(event, selects, encode);
    if (line !== undefined) send(line);
  };
  const bookmark = (version = store.resourceVersion, annotations?: JsonObject): void =>
    send(`${jsonText({ type: "BOOKMARK", object: encode.bookmark(version, annotations) })}\n`);

  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
  response.flushHeaders();
  stream = request.openStream();
  signal.addEventListener("abort", finish);
  response.once("close", finish);
  if (initial) {
    const version = store.resourceVersion;
    const present = store.list(definition.collection, namespace);
    // Changes during the transfer of a large initial state are sent after it.
    const later: StoreEvent[] = [];
    unsubscribe = store.subscribe(definition.collection, (event) => later.push(event));
    for (const object of present) {
      if (selects(object)) send(encode.event("ADDED", object));
      if (stream.unreadBytes > initialChunkBytes) await stream.drained();
      if (isOver) return ended;
    }
    if (query.get("sendInitialEvents") === "true" && bookmarks)
      bookmark(version, { "k8s.io/initial-events-end": "true" });
    for (const event of later) deliver(event);
    unsubscribe();
  } else {
    try {
      for (const event of store.since(definition.collection, requested ?? 0)) deliver(event);
    } catch (error) {
      if (!isStatusError(error)) throw error;
      send(`${jsonText({ type: "ERROR", object: error.toStatus() })}\n`);
      finish();
      return;
    }
  }
  unsubscribe = store.subscribe(definition.collection, deliver);
  if (isOver) unsubscribe();
  else if (signal.aborted || response.destroyed) finish();
  else {
    timers.push(clock.setTimer(timeoutSeconds * 1000, finish));
    const tick = (): void => {
      bookmark();
      timers[1] = clock.setTimer(bookmarkEveryMs, tick);
    };
    if (bookmarks) timers.push(clock.setTimer(bookmarkEveryMs, tick));
  }
  return ended;
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

/**
 * The line of a change, for a selector: an object that begins to match is ADDED, one that no longer matches is DELETED.
 */
function lineFor(event: StoreEvent, selects: ObjectMatcher, encode: Encoder): string | undefined {
  const { object, previous } = event;
  const matchesNow = event.type !== "DELETED" && selects(object);
  const matchedBefore = previous !== undefined && selects(previous);
  if (matchesNow) return encode.event(matchedBefore ? "MODIFIED" : "ADDED", object);
  if (!matchedBefore) return undefined;
  if (event.type === "DELETED") return encode.event("DELETED", object);
  // The client knows the previous state; it gets that with the version at which it no longer matches.
  const { resourceVersion } = object.metadata;
  return encode.event("DELETED", { ...previous, metadata: { ...previous.metadata, resourceVersion } });
}

interface Encoder {
  event(type: "ADDED" | "MODIFIED" | "DELETED", object: StoredObject): string;
  bookmark(resourceVersion: number, annotations: JsonObject | undefined): JsonObject;
}

function createEncoder({ clock }: ServerContext, request: WatchRequest): Encoder {
  const { definition, representation, include } = request;
  const apiVersion = apiVersionOf(definition);
  let isFirst = true;

  const plain = (object: StoredObject): string =>
    definition.view === undefined && object.apiVersion === apiVersion
      ? textOf(object)
      : textIn(apiVersion, object, () => shown(definition, object));
  const table = (object: StoredObject): string => {
    const { resourceVersion } = object.metadata;
    const body = tableOf(definition, [object], { resourceVersion }, clock.now(), { include, withColumns: isFirst });
    isFirst = false;
    return jsonText(body);
  };

  return {
    event(type, object) {
      const text =
        representation === "table"
          ? table(object)
          : representation === "object"
            ? plain(object)
            : jsonText(partialObject(object));
      return `{"type":"${type}","object":${text}}\n`;
    },
    bookmark(resourceVersion, annotations) {
      const metadata = {
        resourceVersion: String(resourceVersion),
        ...(annotations === undefined ? {} : { annotations }),
      };
      if (representation === "partial" || representation === "partial-list") return partialObject({ metadata });
      const object = { kind: definition.kind, apiVersion, metadata };
      if (representation !== "table") return object;
      const rows = [{ cells: definition.columns.map(() => ""), object: partialObject({ metadata }) }];
      return {
        kind: "Table",
        apiVersion: "meta.k8s.io/v1",
        metadata: { resourceVersion: String(resourceVersion) },
        columnDefinitions: null,
        rows,
      };
    },
  };
}
