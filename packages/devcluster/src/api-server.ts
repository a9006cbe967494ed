import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Clock, ConfigError, type Random, systemClock, systemRandom } from "./foundation.ts";
import type { ApiRequest } from "./http/api-request.ts";
import { sendFault } from "./http/answer.ts";
import { refuseForeignCallers } from "./http/loopback-guard.ts";
import { serve } from "./http/serve.ts";
import { createRegistry } from "./kinds/registry.ts";
import { serveCustomResources } from "./life/custom-resources.ts";
import { keepDisruptionBudgets } from "./life/disruption-budgets.ts";
import { expireEvents } from "./life/expire-events.ts";
import { collectGarbage } from "./life/garbage-collector.ts";
import { keepNamespaces } from "./life/namespaces.ts";
import type { Log, Machinery } from "./machinery.ts";
import { internalError, isApiFault } from "./status.ts";
import type { Journal } from "./storage/journal.ts";
import { createObjectStore } from "./storage/object-store.ts";

/** Options of {@link createApiServer}. */
export interface ApiServerOptions {
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Default: the system's randomness. */
  readonly random?: Random;
  /** Where objects outlive the process, see `openFileStorage`. Default: nowhere, everything is in memory. */
  readonly storage?: Journal;
  /** Default: nothing is logged. */
  readonly log?: Log;
  /** How many changes of each resource a watch can go back; older versions answer 410. Default 4096. */
  readonly historyLimit?: number;
}

/** Where to listen. */
export interface ListenOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Loopback only: the server has no authentication. */
  readonly host?: "127.0.0.1";
}

/** A Kubernetes API server inside of this process. */
export interface ApiServer {
  /** Starts to listen. Rejects with a ConfigError that names the port when it is taken. */
  listen(options?: ListenOptions): Promise<{ readonly url: string }>;
  /** Ends all watches and connections and closes the storage. Safe to call twice. */
  close(): Promise<void>;
  /** Forgets the history of changes, as etcd's compaction does: older watches answer 410 from here on. */
  compactHistory(): void;
}

/**
 * Creates an API server. It serves nothing until `listen` is called.
 *
 * @example
 * const server = createApiServer();
 * const { url } = await server.listen({ port: 8001 });
 * // kubectl --server http://127.0.0.1:8001 get namespaces
 * await server.close();
 */
export function createApiServer(options: ApiServerOptions = {}): ApiServer {
  const { clock = systemClock, random = systemRandom, log = () => {} } = options;
  const store = createObjectStore({ journal: options.storage, historyLimit: options.historyLimit });
  const machinery: Machinery = { store, registry: createRegistry(), clock, random, log };
  const stops = [
    serveCustomResources(machinery),
    keepNamespaces(machinery),
    collectGarbage(machinery),
    keepDisruptionBudgets(machinery),
  ];
  const closing = new AbortController();
  const server = createServer({ keepAliveTimeout: 60_000, maxHeaderSize: 64 * 1024 }, (raw, response) => {
    void handle(machinery, raw, response, closing.signal);
  });
  server.requestTimeout = 60_000;
  let closed: Promise<void> | undefined;

  return {
    listen({ port = 0, host = "127.0.0.1" } = {}) {
      return new Promise((resolve, reject) => {
        server.once("error", (error) => reject(listenError(error, host, port)));
        server.listen({ port, host }, () => {
          server.removeAllListeners("error");
          // A timer keeps the process alive, so it starts with the listening and not before.
          stops.push(expireEvents(machinery));
          const address = server.address();
          const bound = typeof address === "object" && address !== null ? address.port : port;
          resolve({ url: `http://${host}:${bound}` });
        });
      });
    },
    close() {
      closed ??= new Promise((resolve) => {
        closing.abort();
        for (const stop of stops) stop();
        server.close(() => {
          store.close();
          resolve();
        });
        server.closeAllConnections();
      });
      return closed;
    },
    compactHistory: () => store.compactHistory(),
  };
}

async function handle(
  machinery: Machinery,
  raw: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  try {
    refuseForeignCallers(raw);
    const url = new URL(raw.url ?? "/", "http://localhost");
    const request: ApiRequest = {
      method: raw.method ?? "GET",
      pathname: url.pathname,
      query: url.searchParams,
      raw,
      response,
      signal,
    };
    await serve(machinery, request);
  } catch (error) {
    if (!isApiFault(error) && !response.destroyed) {
      machinery.log("error", "request failed", { method: raw.method, path: raw.url, error });
    }
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (!raw.complete) response.setHeader("connection", "close");
    sendFault(response, isApiFault(error) ? error : internalError(error instanceof Error ? error.message : "unknown"));
  }
}

function listenError(error: Error, host: string, port: number): Error {
  const code = "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new ConfigError(`API server: port ${port} of ${host} is in use; choose another port, or 0 for a free one`, {
      cause: error,
    });
  }
  if (code === "EACCES" || code === "ERR_SOCKET_BAD_PORT") {
    return new ConfigError(`API server: cannot listen on port ${port} of ${host}; choose a port from 1024 to 65535`, {
      cause: error,
    });
  }
  return error;
}
