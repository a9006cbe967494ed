import { type Clock, isRecord, type Random, type ResourceType, systemClock, systemRandom } from "@millwright/base";
import type { ClusterConfig } from "../connection/cluster-config.ts";
import type { Connections } from "../connection/connections.ts";
import { parseJson } from "../json/parse-json.ts";
import type { Log } from "../log.ts";
import { isApiObject } from "../objects/kube-object.ts";
import type { ApiObject, KubeObject, ObjectList, ObjectRef } from "../objects/kube-object.ts";
import { apiVersionOf, describeType, withTypeMeta } from "../objects/resource-type.ts";
import { ApiError } from "./api-error.ts";
import type {
  CallOptions,
  DeleteOptions,
  ListOptions,
  RawRequest,
  RawResponse,
  ReadOptions,
  WatchOptions,
  WriteOptions,
} from "./call-options.ts";
import type { Connectivity } from "./connectivity.ts";
import type { ServerTime } from "./server-time.ts";
import { acceptHeader, bodyOfDelete, queryOfList, queryOfWatch, queryOfWrite } from "./encode-options.ts";
import { readListPage } from "./list-page.ts";
import { patchContentType } from "./patch.ts";
import type { PatchOptions } from "./patch.ts";
import { collectionPath, objectPath, queryString } from "./resource-path.ts";
import type { Query } from "./resource-path.ts";
import { createServerHistory, type ServerHistory } from "./server-history.ts";
import { createTransport } from "./transport.ts";
import type { HttpMethod } from "./request-observer.ts";
import type { Transport } from "./transport.ts";
import { defaultInactivityMs, openWatch, watchTimeoutSeconds } from "./watch.ts";
import type { WatchEvent } from "./watch.ts";

/**
 * A client of one API server. Objects are plain JSON exactly as on the wire: unknown fields stay, times are text.
 *
 * Every method throws {@link ApiError} for a rejection, a broken connection or a deadline that passed, the reason of its
 * signal when that aborts, and TypeError for a name that cannot be part of a path.
 *
 * A type argument is the expectation of the caller; the client only checks that the response is an object with metadata, the schema of the
 * server vouches for the rest.
 */
export interface ApiClient {
  get<T extends ApiObject = KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    options?: CallOptions & ReadOptions & { readonly subresource?: string },
  ): Promise<T>;
  list<T extends ApiObject = KubeObject>(
    type: ResourceType,
    options?: ListOptions,
    call?: CallOptions,
  ): Promise<ObjectList<T>>;
  /** Creates an object in `metadata.namespace`. With `subresource` (`eviction`, `binding`) it posts to that of `metadata.name`. */
  create<T extends ApiObject = KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T>;
  /** Changes an object; see {@link PatchOptions} for the kinds and their preconditions. */
  patch<T extends ApiObject = KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T>;
  /** Replaces an object; with `metadata.resourceVersion` only in that version. */
  replace<T extends ApiObject = KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T>;
  /** Asks for deletion. Resolves with the object while finalizers hold it, or with the `Status` (or the last state) when it is gone. */
  delete(type: ResourceType, ref: ObjectRef, options?: DeleteOptions): Promise<KubeObject>;
  /** Events from a version on, over a connection of its own; see {@link WatchEvent} and `openWatch` for ends and errors. */
  watch(type: ResourceType, options: WatchOptions, signal: AbortSignal): AsyncIterable<WatchEvent>;
  request(request: RawRequest): Promise<RawResponse>;
  /** Whether the server can be reached: by any answer, to whatever the client asked. Absent in fakes. */
  readonly connectivity?: Connectivity;
  /** For how long the server has answered nothing but 401, milliseconds: it rejects the credentials; 0 otherwise. Absent in fakes. */
  readonly rejectedForMs?: Transport["rejectedForMs"];
  /** The clock of the server, with which times in its objects are compared. Absent in fakes. */
  readonly serverTime?: ServerTime;
  /** Whether the server still has the history that the caches of this client have seen. Absent in fakes. */
  readonly history?: ServerHistory;
  /** How many requests the client allows itself at once, how many are under way and wait; for metrics. Absent in fakes. */
  readonly load?: Transport["load"];
  /** Observes each attempt of a request, for metrics. Returns what ends it. Absent in fakes. */
  readonly observe?: Transport["observe"];
  /** Host and port of the server. Absent in fakes. */
  readonly host?: string;
  /** Ends all requests and watches and closes the connections. */
  readonly close: () => Promise<void>;
}

/** Options of {@link createApiClient}; all have defaults. */
export interface ApiClientOptions {
  /** Default `millwright-kube`. */
  readonly userAgent?: string;
  /** Default: none, and the server then takes the user agent. */
  readonly fieldManager?: string;
  /** Deadline of a call, milliseconds. Default: that of the configuration, else 30 s. */
  readonly timeoutMs?: number;
  /** Most connections and requests at once, watches apart; fewer while the server is overloaded. Default 16. */
  readonly maxConnections?: number;
  /** How often 429 and 503 with `Retry-After` are followed. Default 3. */
  readonly maxRetries?: number;
  /** Longest wait for one repetition, milliseconds; more gives the error, with `retryAfterMs`. Default 5 s. */
  readonly maxRetryWaitMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** How the server is reached. Default: TCP connections, as the configuration describes them. */
  readonly connections?: Connections;
  readonly log?: Log;
}

/**
 * Makes an {@link ApiClient}. Connects with the first request.
 *
 * @throws ConfigError when the address of the server is none
 *
 * @example
 * const api = createApiClient(await loadKubeConfig({}));
 * const { items } = await api.list(nodeResource, { labelSelector: "zone=a" });
 */
export function createApiClient(config: ClusterConfig, options: ApiClientOptions = {}): ApiClient {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const transport = createTransport(config, {
    clock,
    userAgent: options.userAgent ?? "millwright-kube",
    timeoutMs: options.timeoutMs ?? config.requestTimeoutMs ?? 30_000,
    maxConnections: options.maxConnections ?? 16,
    maxRetries: options.maxRetries ?? 3,
    maxRetryWaitMs: options.maxRetryWaitMs ?? 5_000,
    connections: options.connections,
    log: options.log,
  });

  async function send(
    method: HttpMethod,
    path: string,
    callOptions: CallOptions,
    body?: { readonly json: unknown; readonly contentType?: string },
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Buffer> {
    const response = await transport.request({
      method,
      path,
      signal: callOptions.signal,
      timeoutMs: callOptions.timeoutMs,
      beforeSend: callOptions.beforeSend,
      ...(body === undefined
        ? { headers }
        : { body: JSON.stringify(body.json), headers: { "content-type": body.contentType ?? "application/json" } }),
    });
    return response.body;
  }

  async function call(...args: Parameters<typeof send>): Promise<unknown> {
    const body = await send(...args);
    try {
      return parseJson(body.toString("utf8"));
    } catch {
      throw malformed(`${args[0]} ${args[1]}`, "the answer is not JSON");
    }
  }

  async function callForObject<T extends ApiObject>(type: ResourceType, ...args: Parameters<typeof call>): Promise<T> {
    return expectObject<T>(await call(...args), type, `${args[0]} ${args[1]}`);
  }

  const writeQuery = (write: WriteOptions): Query => queryOfWrite(write, options.fieldManager);

  return {
    async get(type, ref, getOptions = {}) {
      const path = objectPath(type, ref, getOptions.subresource);
      return callForObject(type, "GET", path, getOptions, undefined, acceptHeader("PartialObjectMetadata", getOptions));
    },

    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the interface names it
    async list<T extends ApiObject>(type: ResourceType, listOptions: ListOptions = {}, callOptions: CallOptions = {}) {
      const path = collectionPath(type, listOptions.namespace) + queryString(queryOfList(listOptions));
      const accept = acceptHeader("PartialObjectMetadataList", listOptions);
      const body = await send("GET", path, callOptions, undefined, accept);
      const { omitManagedFields = false } = listOptions;
      const page = await readListPage(body, { clock, signal: callOptions.signal, omitManagedFields }).catch(
        (cause: unknown) => {
          if (!(cause instanceof SyntaxError)) throw cause;
          throw malformed(`GET ${path}`, "the answer is not JSON");
        },
      );
      if (page === undefined) throw malformed(`GET ${path}`, "the answer is not a list");
      const items = page.items.map((item) => expectObject<T>(item, type, `GET ${path}`));
      return { items, metadata: page.metadata };
    },

    async create(type, object, write = {}) {
      const { namespace, name } = object.metadata;
      const path =
        write.subresource === undefined
          ? collectionPath(type, requireNamespace(type, namespace))
          : objectPath(type, { namespace, name: name ?? "" }, write.subresource);
      const body = write.subresource === undefined ? withTypeMeta(type, object) : object;
      return callForObject(type, "POST", path + queryString(writeQuery(write)), write, { json: body });
    },

    async patch(type, ref, patch, patchOptions) {
      const force = patchOptions.kind === "apply" && patchOptions.force === true ? true : undefined;
      const query = { ...writeQuery(patchOptions), force };
      const path = objectPath(type, ref, patchOptions.subresource) + queryString(query);
      const { body, contentType } = patchContentType(type, ref, patch, patchOptions);
      return callForObject(type, "PATCH", path, patchOptions, { json: body, contentType });
    },

    async replace(type, object, write = {}) {
      const { namespace, name } = object.metadata;
      const path = objectPath(type, { namespace, name: name ?? "" }, write.subresource);
      return callForObject(type, "PUT", path + queryString(writeQuery(write)), write, {
        json: withTypeMeta(type, object),
      });
    },

    async delete(type, ref, deleteOptions = {}) {
      const path = objectPath(type, ref);
      const answer = await call("DELETE", path, deleteOptions, { json: bodyOfDelete(deleteOptions) });
      if (isRecord(answer) && answer["kind"] === "Status") return { ...answer, metadata: {} };
      return expectObject<KubeObject>(answer, type, `DELETE ${path}`);
    },

    watch(type, watchOptions, signal) {
      const { inactivityMs = defaultInactivityMs, sendInitialEvents: isList = false } = watchOptions;
      const timeoutSeconds = watchOptions.timeoutSeconds ?? watchTimeoutSeconds({ inactivityMs, isList }, random);
      return openWatch({
        transport,
        path: collectionPath(type, watchOptions.namespace) + queryString(queryOfWatch(watchOptions, timeoutSeconds)),
        clock,
        inactivityMs,
        omitManagedFields: watchOptions.omitManagedFields,
        headers: acceptHeader("PartialObjectMetadata", watchOptions),
        onAnswer: watchOptions.onAnswer,
        signal,
      });
    },

    async request(raw) {
      const response = await transport.request({
        method: raw.method,
        path: raw.path + queryString(raw.query ?? {}),
        signal: raw.signal,
        timeoutMs: raw.timeoutMs,
        beforeSend: raw.beforeSend,
        headers: { ...(raw.body === undefined ? {} : { "content-type": "application/json" }), ...raw.headers },
        ...(raw.body === undefined ? {} : { body: JSON.stringify(raw.body) }),
      });
      const text = response.body.toString("utf8");
      const { status, date } = response;
      if (!response.contentType.includes("json")) return { status, body: text, date };
      try {
        return { status, body: parseJson(text), date };
      } catch {
        throw malformed(`${raw.method} ${raw.path}`, "the answer is not JSON");
      }
    },

    connectivity: transport.connectivity,
    rejectedForMs: transport.rejectedForMs,
    serverTime: transport.serverTime,
    history: createServerHistory(clock),
    load: transport.load,
    observe: transport.observe,
    host: new URL(config.server).host,
    close: transport.close,
  };
}

function requireNamespace(type: ResourceType, namespace: string | undefined): string | undefined {
  if (type.namespaced && (namespace === undefined || namespace === "")) {
    throw new TypeError(`${describeType(type)}: metadata.namespace is needed to create a namespaced object`);
  }
  return type.namespaced ? namespace : undefined;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- see the interface
function expectObject<T extends ApiObject>(value: unknown, type: ResourceType, request: string): T {
  if (!isApiObject(value)) throw malformed(request, `the answer is not a ${type.kind} of ${apiVersionOf(type)}`);
  // The one place where JSON becomes a typed object: the type argument is the caller's claim, backed by the server's schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return withTypeMeta(type, value) as ApiObject as T;
}

/** Without the error of the JSON parser as cause: its message quotes the answer, which may be a Secret. */
function malformed(request: string, what: string): ApiError {
  return new ApiError({ status: 0, reason: "MalformedResponse", message: `${request}: ${what}` });
}
