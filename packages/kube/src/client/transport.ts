import { isDeepStrictEqual } from "node:util";
import { type Clock, ConfigError } from "@millwright/base";
import type { ClusterConfig } from "../connection/cluster-config.ts";
import {
  type Access,
  type Connection,
  type ConnectionResponse,
  type Connections,
  createConnections,
} from "../connection/connections.ts";
import { startDeadline } from "../deadline.ts";
import type { Deadline } from "../deadline.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import { createAdaptiveLimit } from "./adaptive-limit.ts";
import type { AdaptiveLimit, RequestOutcome } from "./adaptive-limit.ts";
import { ApiError, apiErrorFromResponse, isApiError, isDisruptionBudgetError, isUnauthorized } from "./api-error.ts";
import { type Connectivity, createConnectivityRecord } from "./connectivity.ts";
import { createRequestObservers, type HttpMethod, requestKindOf, type RequestObserver } from "./request-observer.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { createServerTime, type ServerTime } from "./server-time.ts";

/** One request, as the transport sends it. */
export interface TransportRequest {
  readonly method: HttpMethod;
  /** Path and query, from the root of the API: `/api/v1/nodes?limit=500`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Deadline for the whole request, including waits before retries, in milliseconds. Default: that of the transport. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called right before each attempt is sent, after all waits; what it throws ends the request. */
  readonly beforeSend?: (() => void) | undefined;
}

/** A response with a status below 400. */
export interface TransportResponse {
  readonly status: number;
  readonly contentType: string;
  /** The header `Date`; absent where the server sends none. */
  readonly date?: string | undefined;
  readonly body: Buffer;
}

/** A response whose body is streamed, on its own connection. */
export interface TransportStream {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes the connection. Safe to call more than once. */
  readonly close: () => void;
}

/** Options of {@link createTransport}. */
export interface TransportOptions {
  readonly clock: Clock;
  /** Sent as `User-Agent`, shown in the audit log of the server. */
  readonly userAgent: string;
  /** Default deadline of a request, milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of connections, without watches. */
  readonly maxConnections: number;
  /** Maximum number of retries after 429 or 503 with `Retry-After`. */
  readonly maxRetries: number;
  /** Maximum wait before such a retry, milliseconds; a longer `Retry-After` is returned as the error. */
  readonly maxRetryWaitMs: number;
  /** How the server is reached. Default: TCP connections, as the configuration describes them. */
  readonly connections?: Connections | undefined;
  readonly log?: Log | undefined;
}

/** HTTP to one API server: pooled connections, deadlines, bounded retries, errors as {@link ApiError}. */
export interface Transport {
  request(request: TransportRequest): Promise<TransportResponse>;
  /**
   * Opens a stream. The deadline limits the time until the headers arrive; the rest is limited only by `signal`. A connection that
   * breaks before the headers is replaced once.
   */
  stream(request: TransportRequest): Promise<TransportStream>;
  /** Whether the server is reachable: any response to any request or stream counts, also an error; only a failed connection means that it is not. */
  readonly connectivity: Connectivity;
  /** For how long the server has answered nothing but 401, milliseconds: it rejects the credentials; 0 otherwise. */
  readonly rejectedForMs: () => number;
  /** The clock of the server, from the responses to all requests and streams. */
  readonly serverTime: ServerTime;
  /** The current limit of concurrent requests, and its counters. */
  readonly load: () => ReturnType<AdaptiveLimit["counts"]>;
  /** Observes each attempt of a request or stream. Returns what ends it. */
  readonly observe: (observer: RequestObserver) => () => void;
  /** Closes all connections, including streams. Requests in flight fail. */
  readonly close: () => Promise<void>;
}

/** The largest response is a whole list: 50,000 objects of 10 KiB. */
const maxResponseBytes = 512 * 1024 * 1024;

/**
 * Creates a {@link Transport}. Nothing is loaded or connected before the first request.
 *
 * @throws ConfigError when the address of the server is invalid
 */
export function createTransport(config: ClusterConfig, options: TransportOptions): Transport {
  const { clock } = options;
  const log = options.log ?? noLog;
  let base = parseServer(config.server);
  const limit = createAdaptiveLimit({ clock, max: options.maxConnections });
  const connectivity = createConnectivityRecord(clock);
  const serverTime = createServerTime(clock);
  const observers = createRequestObservers();
  const { maxConnections } = options;
  let rejectedSinceMs: number | undefined;
  const connections = options.connections ?? createConnections({ maxConnections, maxResponseBytes });
  const currentCluster = async (isRejected = false): Promise<ClusterConfig> =>
    (await config.current?.(isRejected)) ?? config;

  async function send(
    dispatcher: Connection,
    request: TransportRequest,
    { cluster, credentials }: Access,
    signal: AbortSignal,
  ): Promise<ConnectionResponse> {
    if (cluster.server !== base.server) base = parseServer(cluster.server);
    request.beforeSend?.();
    const kind = requestKindOf(request.method, request.path);
    const sentMs = clock.monotonicMs();
    const sent = dispatcher.request({
      origin: base.origin,
      path: base.prefix + request.path,
      method: request.method,
      headers: {
        "user-agent": options.userAgent,
        accept: "application/json",
        ...credentials.headers,
        ...request.headers,
      },
      body: request.body ?? null,
      reset: false,
      signal,
    });
    try {
      const answer = await sent;
      observers.answered(kind, answer.statusCode, clock.monotonicMs() - sentMs);
      // A load balancer without a backend responds with 5xx, too.
      if (answer.statusCode < 500) {
        const [date, age] = [header(answer, "date"), header(answer, "age")];
        serverTime.answered({ sentMs, receivedMs: clock.monotonicMs(), date, age });
        connectivity.answered();
        rejectedSinceMs = answer.statusCode === 401 ? (rejectedSinceMs ?? sentMs) : undefined;
      }
      return answer;
    } catch (error) {
      observers.answered(kind, undefined, clock.monotonicMs() - sentMs);
      if (!signal.aborted) connectivity.failed(sentMs);
      throw error;
    }
  }

  async function accessOf(signal: AbortSignal, rejected?: Access): Promise<Access> {
    const cluster = await currentCluster(rejected !== undefined);
    return { cluster, credentials: (await cluster.credentials?.(signal, rejected?.credentials)) ?? {} };
  }

  /** Runs with the current credentials, and once more with new ones when the server rejects them. */
  async function withAccess<T>(signal: AbortSignal, run: (access: Access) => Promise<T>): Promise<T> {
    const access = await accessOf(signal);
    try {
      return await run(access);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      const fresh = await accessOf(signal, access);
      if (isSame(fresh, access)) throw error;
      return run(fresh);
    }
  }

  async function attempt(request: TransportRequest, given: Access, deadline: Deadline): Promise<TransportResponse> {
    const { signal } = deadline;
    const waitedMs = clock.monotonicMs();
    const place = await limit.enter(signal);
    const waitMs = clock.monotonicMs() - waitedMs;
    observers.waited(requestKindOf(request.method, request.path), waitMs);
    let outcome: RequestOutcome = { kind: "unknown" };
    try {
      // In a wait, a certificate may have been replaced: the pool of the old one is closed. Credentials go only to the server that they are for.
      const access = waitMs > 1 ? await accessOf(signal) : given;
      const dispatcher = await connections.pool(access);
      const sentMs = clock.monotonicMs();
      const answer = await send(dispatcher, request, access, signal);
      outcome = { kind: "answered", latencyMs: clock.monotonicMs() - sentMs };
      const body = Buffer.from(await answer.body.arrayBuffer());
      await connections.untilReturned?.();
      if (answer.statusCode < 400) {
        return {
          status: answer.statusCode,
          contentType: header(answer, "content-type") ?? "",
          date: header(answer, "date"),
          body,
        };
      }
      const failure = apiErrorFromResponse(
        `${request.method} ${request.path}`,
        answer.statusCode,
        body.toString("utf8"),
        parseRetryAfter(header(answer, "retry-after"), serverTime.now()),
      );
      if (isOverload(failure)) outcome = { kind: "throttled" };
      throw failure;
    } finally {
      place.leave(deadline.expired() ? { kind: "throttled" } : outcome);
    }
  }

  async function request(request: TransportRequest): Promise<TransportResponse> {
    const timeoutMs = request.timeoutMs ?? options.timeoutMs;
    const deadline = startDeadline(clock, timeoutMs, request.signal);
    try {
      for (let retries = 0; ; retries++) {
        try {
          return await withAccess(deadline.signal, (access) => attempt(request, access, deadline));
        } catch (error) {
          const failure = explain(error, request, deadline, timeoutMs);
          const waitMs = retries < options.maxRetries ? retryWait(failure, request) : undefined;
          // A wait past the deadline would replace the error of the server by a timeout.
          if (waitMs === undefined || waitMs > options.maxRetryWaitMs || waitMs >= deadline.remainingMs())
            throw failure;
          const status = isApiError(failure) && failure.status > 0 ? failure.status : undefined;
          observers.retried(requestKindOf(request.method, request.path), status);
          log("debug", "The API server requested a retry later", { path: request.path, delayMs: waitMs });
          await clock.sleep(waitMs, deadline.signal).catch((reason: unknown) => {
            throw explain(reason, request, deadline, timeoutMs);
          });
        }
      }
    } finally {
      deadline.clear();
    }
  }

  async function openStream(request: TransportRequest, access: Access, signal: AbortSignal): Promise<TransportStream> {
    // The connection of a watch that has just ended takes the next one.
    await connections.untilReturned?.();
    const open = async (): Promise<ConnectionResponse> =>
      send(await connections.streams(access), request, access, signal);
    const answer = await open().catch((error: unknown) => {
      // A server closes kept connections when it shuts down. The caller would take this for an outage.
      if (request.method !== "GET" || signal.aborted || !isStaleConnection(error)) throw error;
      observers.retried(requestKindOf(request.method, request.path), undefined);
      return open();
    });
    if (answer.statusCode >= 400) {
      throw apiErrorFromResponse(
        `${request.method} ${request.path}`,
        answer.statusCode,
        await answer.body.text(),
        parseRetryAfter(header(answer, "retry-after"), serverTime.now()),
      );
    }
    // From here on the caller ends the stream with close().
    return { chunks: answer.body, close: () => void answer.body.destroy() };
  }

  async function stream(request: TransportRequest): Promise<TransportStream> {
    const timeoutMs = request.timeoutMs ?? options.timeoutMs;
    const deadline = startDeadline(clock, timeoutMs, request.signal);
    try {
      return await withAccess(deadline.signal, (access) => openStream(request, access, deadline.signal));
    } catch (error) {
      throw explain(error, request, deadline, timeoutMs);
    } finally {
      deadline.clear();
    }
  }

  return {
    request,
    stream,
    connectivity,
    rejectedForMs: () => (rejectedSinceMs === undefined ? 0 : clock.monotonicMs() - rejectedSinceMs),
    serverTime,
    load: limit.counts,
    observe: observers.add,
    close: connections.close,
  };
}

/** Converts the error of a request to the caller's abort reason or an {@link ApiError}. */
function explain(error: unknown, request: TransportRequest, deadline: Deadline, timeoutMs: number): unknown {
  const what = `${request.method} ${request.path}`;
  if (deadline.expired()) {
    const message = `${what}: no response from the API server within ${timeoutMs} ms`;
    return new ApiError({ status: 0, reason: "ClientTimeout", message, cause: error });
  }
  if (request.signal?.aborted === true) return request.signal.reason;
  if (!(error instanceof Error) || error.name === "ApiError" || error.name === "ConfigError") return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "" && !(error instanceof AggregateError)) return error;
  const text = messageOf(error) || code;
  return new ApiError({
    status: 0,
    reason: "Unreachable",
    message: `${what}: the API server is unreachable: ${text}`,
    cause: error,
  });
}

/** How long to wait before a retry; undefined when the request must not be retried. */
function retryWait(error: unknown, request: TransportRequest): number | undefined {
  const rejectedByBudget = isDisruptionBudgetError(error);
  if (!isApiError(error)) return undefined;
  // The server's limiter responds with 429 before the request is processed, so that writes are safe to retry as well.
  // An eviction that a budget does not allow is not overload.
  const { status, retryAfterMs, reason, cause } = error;
  if (status === 429) return rejectedByBudget ? undefined : retryAfterMs;
  if (reason === "Unreachable" && isClosedPool(cause)) return 0;
  if (request.method !== "GET") return undefined;
  if (status === 503) return retryAfterMs;
  // The server closed a pooled connection at the moment it was used: retry with a new one.
  if (reason === "Unreachable" && isStaleConnection(cause)) return 0;
  return undefined;
}

/** The server is overloaded. An eviction that a budget does not allow is not overload. */
function isOverload(error: ApiError): boolean {
  return error.status === 503 || (error.status === 429 && !isDisruptionBudgetError(error));
}

/** Whether the server would reject the second one like the first. */
function isSame(a: Access, b: Access): boolean {
  const proofOf = ({ cluster, credentials: { cert, headers } }: Access) => [
    headers?.["authorization"],
    cert ?? cluster.tls?.cert,
    cluster.server,
  ];
  return isDeepStrictEqual(proofOf(a), proofOf(b));
}

function isStaleConnection(cause: unknown): boolean {
  const code = codeOf(cause);
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE" || isClosedPool(cause);
}

/** The pool was closed before it took the request, because a certificate was replaced at that moment. Nothing was sent. */
function isClosedPool(cause: unknown): boolean {
  return codeOf(cause) === "UND_ERR_CLOSED";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function header(answer: ConnectionResponse, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function parseServer(server: string): { readonly server: string; readonly origin: string; readonly prefix: string } {
  const url = URL.parse(server);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(
      `API server address ${JSON.stringify(server)} is not a URL; expected http://host:port or https://host:port`,
    );
  }
  return { server, origin: url.origin, prefix: url.pathname.replace(/\/+$/, "") };
}
