import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";
import { readProxyUrl } from "@millwright/base/egress";
import type { Agent, buildConnector } from "undici";
import type { ClusterConfig, Credentials } from "./cluster-config.ts";
import { createConnector } from "./connector.ts";

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
  readonly body: AsyncIterable<Uint8Array> & {
    arrayBuffer(): Promise<ArrayBuffer>;
    text(): Promise<string>;
    /** Ends what was not read to its end, and closes its connection. */
    destroy(): unknown;
  };
}

/** What sends requests: a dispatcher of undici, or a simulated network. */
export interface Connection {
  /** Rejects with an error with a `code` such as ECONNRESET when the connection fails. */
  request(request: ConnectionRequest): Promise<ConnectionResponse>;
}

/** Where a request goes, and as whom. */
export interface Access {
  readonly cluster: ClusterConfig;
  readonly credentials: Credentials;
}

/** The connections to one API server. */
export interface Connections {
  /** The shared pool. */
  pool(access: Access): Promise<Connection>;
  /** Connections for watches, as many as there are: these must not take places in the pool for minutes. */
  streams(access: Access): Promise<Connection>;
  /** Resolves when a connection whose response was just read takes another request. Absent: it does at once. */
  readonly untilReturned?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The connections to the same server with the same certificates. */
interface Pools {
  /** What they are made of. */
  readonly access: Access;
  readonly requests: Agent;
  readonly streams: Agent;
}

/** Whether connections of one serve the other. */
const isSamePool = (one: Access, other: Access): boolean =>
  one.cluster.server === other.cluster.server &&
  one.cluster.proxyUrl === other.cluster.proxyUrl &&
  one.credentials.cert === other.credentials.cert &&
  (one.cluster.tls === other.cluster.tls || isDeepStrictEqual(one.cluster.tls, other.cluster.tls));

/** Connections whose responses may be destroyed before they are read: a stream that fails without a listener would end the process. */
const createStreams = (agent: Agent): Connection => ({
  async request(request) {
    const response = await agent.request(request);
    response.body.on("error", () => {});
    return response;
  },
});

/** The part of undici that the API client needs. */
interface HttpClients {
  readonly Agent: typeof Agent;
  readonly buildConnector: typeof buildConnector;
}

const load = createRequire(import.meta.url);

/**
 * Loads the clients of undici without the rest of it, such as `fetch`, caches, mocks and web sockets: these take 6 MiB more in each
 * thread that connects. Its `index.js` does the same with these modules.
 */
function loadHttpClients(): HttpClients {
  const dispatcher: { readonly prototype: object } = load("undici/lib/dispatcher/dispatcher.js");
  Object.assign(dispatcher.prototype, load("undici/lib/api/index.js"));
  return {
    Agent: load("undici/lib/dispatcher/agent.js"),
    buildConnector: load("undici/lib/core/connect.js"),
  };
}

/** Keeps the pool and the connections of watches. undici is loaded with the first of them: it costs 140 ms. */
export function createConnections(limits: ConnectionLimits): Connections {
  /** All that are not closed. */
  const agents = new Set<Agent>();
  let current: Pools | undefined;
  let closed = false;

  function createAgent(options: Agent.Options): Agent {
    const { Agent } = loadHttpClients();
    // The deadline of the request bounds the answer; undici's own clock would cut it at five minutes.
    const agent = new Agent({ ...options, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
    agents.add(agent);
    return agent;
  }

  /** Lets what is under way end in peace. */
  async function retire(agent: Agent): Promise<void> {
    await agent.close().catch(() => {});
    agents.delete(agent);
  }

  function poolsFor(access: Access): Pools {
    if (closed) throw new Error("the API client is closed");
    if (current !== undefined && isSamePool(current.access, access)) return current;
    const { cluster, credentials } = access;
    const { proxyUrl, tls } = cluster;
    const proxy = proxyUrl === undefined ? undefined : readProxyUrl(proxyUrl, "proxyUrl");
    // Shared, so that a TLS session is resumed.
    const connect = createConnector(loadHttpClients().buildConnector, { ...cluster, proxy, tls }, credentials);
    const former = current;
    current = {
      access,
      requests: createAgent({
        connect,
        connections: limits.maxConnections,
        keepAliveTimeout: 30_000,
        maxResponseSize: limits.maxResponseBytes,
      }),
      streams: createAgent({ connect }),
    };
    if (former !== undefined) for (const agent of [former.requests, former.streams]) void retire(agent);
    return current;
  }

  async function close(): Promise<void> {
    closed = true;
    current = undefined;
    await Promise.all([...agents].map((agent) => agent.destroy()));
  }

  // undici returns a connection to the pool in the next turn; a request before that would open another one.
  const untilReturned = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  return {
    pool: async (access) => poolsFor(access).requests,
    streams: async (access) => createStreams(poolsFor(access).streams),
    untilReturned,
    close,
  };
}
