import { readProxyUrl } from "@millwright/base/egress";
import type { Agent, Client } from "undici";
import type { ClusterConfig, Credentials, TlsMaterial } from "./cluster-config.ts";
import { type Connector, createConnector } from "./connector.ts";
import { loadHttpClients } from "./http-clients.ts";

/** Bounds of {@link createConnections}. */
export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxResponseBytes: number;
}

/** One HTTP request on a {@link Connection}. */
export interface ConnectionRequest {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: Record<string, string>;
  readonly body: string | null;
  /** False keeps the connection for the next request. By default undici closes it after a DELETE with a body, and the next one would cost both sides a TLS handshake. */
  readonly reset: false;
  /** Ends the request with its reason. */
  readonly signal: AbortSignal;
}

/** The response to a request, when its head has arrived. */
export interface ConnectionResponse {
  readonly statusCode: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Read once, in one of these ways. */
  readonly body: AsyncIterable<Uint8Array> & { arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> };
}

/** What sends requests: a dispatcher of undici, or a simulated network. */
export interface Connection {
  /** Rejects with an error with a `code` such as ECONNRESET when the connection fails. */
  request(request: ConnectionRequest): Promise<ConnectionResponse>;
}

/** The connections to one API server. */
export interface Connections {
  /** The shared pool. */
  pool(credentials: Credentials): Promise<Connection>;
  /** A connection of one's own, for a watch: it must not take a place in the pool for minutes. */
  single(credentials: Credentials): Promise<Connection>;
  /** Closes a connection made by {@link Connections.single}, at once. */
  release(connection: Connection): void;
  /** Resolves when a connection of the pool whose response was just read takes another request. Absent: it does at once. */
  readonly untilReturned?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The pool, what it was made with, and how connections are made. */
interface Pool {
  readonly cert: Credentials["cert"];
  readonly tls: TlsMaterial | undefined;
  readonly connect: Connector;
  readonly dispatcher: Agent;
}

/** Keeps the pool and the connections of watches. undici is loaded with the first of them: it costs 140 ms. */
export function createConnections(config: ClusterConfig, limits: ConnectionLimits): Connections {
  const origin = new URL(config.server).origin;
  const proxy = config.proxyUrl === undefined ? undefined : readProxyUrl(config.proxyUrl, "proxyUrl");
  const singles = new Map<Connection, Client>();
  let current: Pool | undefined;
  let closed = false;

  const currentTls = async (): Promise<TlsMaterial | undefined> => config.currentTls?.() ?? config.tls;

  function throwWhenClosed(): void {
    if (closed) throw new Error("the API client is closed");
  }

  async function poolFor(credentials: Credentials): Promise<Pool> {
    throwWhenClosed();
    const tls = await currentTls();
    if (current !== undefined && current.cert === credentials.cert && current.tls === tls) return current;
    const { Agent, buildConnector } = loadHttpClients();
    const connect = createConnector(buildConnector, { ...config, proxy, tls }, credentials);
    const dispatcher = new Agent({
      connect,
      connections: limits.maxConnections,
      allowH2: false,
      keepAliveTimeout: 30_000,
      maxResponseSize: limits.maxResponseBytes,
      // The deadline of the request bounds the answer; undici's own clock would cut it at five minutes.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    // Requests on the connections of the former certificate end in peace.
    void current?.dispatcher.close().catch(() => {});
    current = { cert: credentials.cert, tls, connect, dispatcher };
    return current;
  }

  const pool = async (credentials: Credentials): Promise<Agent> => (await poolFor(credentials)).dispatcher;

  async function single(credentials: Credentials): Promise<Client> {
    // With the connector of the pool, a TLS session is resumed: watches connect again every minute.
    const { connect } = await poolFor(credentials);
    const { Client } = loadHttpClients();
    const dispatcher = new Client(origin, {
      connect,
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    singles.set(dispatcher, dispatcher);
    return dispatcher;
  }

  function release(connection: Connection): void {
    const dispatcher = singles.get(connection);
    singles.delete(connection);
    void dispatcher?.destroy().catch(() => {});
  }

  async function close(): Promise<void> {
    closed = true;
    const all = [...singles.values(), ...(current === undefined ? [] : [current.dispatcher])];
    singles.clear();
    current = undefined;
    await Promise.all(all.map((dispatcher) => dispatcher.destroy()));
  }

  // undici returns a connection to the pool in the next turn; a request before that would open another one.
  const untilReturned = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  return { pool, single, release, untilReturned, close };
}
