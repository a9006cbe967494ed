import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ConfigError } from "@millwright/core";
import type { Log } from "@millwright/kube";

/** Where the endpoints are served, and what they show. */
export interface EndpointOptions {
  /** An IP address of this machine; `0.0.0.0` is all of them. */
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The metrics, in Prometheus' text format. */
  metrics(): Promise<string>;
  readonly log: Log;
}

/** Endpoints that are being served. */
export interface Endpoints {
  readonly port: number;
  close(): Promise<void>;
}

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Serves `/healthz` and `/metrics` over plain HTTP, without authentication, as both of MCM's programs do, so that its probes and scrape configurations work
 * (MCM, `pkg/util/provider/app/app.go`, `startHTTP`). A process is healthy while it serves, whether it leads or not: a probe must not restart a standby.
 *
 * @throws ConfigError when the port cannot be used
 */
export function serveEndpoints(options: EndpointOptions): Promise<Endpoints> {
  const respond = createResponder(options);
  const server = createServer({ maxHeaderSize: 16 * 1024 }, (request, response) => {
    void respond(request, response);
  });
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, options)));
    server.listen({ port: options.port, host: options.address }, () => {
      server.removeAllListeners("error");
      const bound = server.address();
      resolve({
        port: typeof bound === "object" && bound !== null ? bound.port : options.port,
        close: () => close(server),
      });
    });
  });
}

function createResponder({ metrics, log }: EndpointOptions) {
  return async ({ method, url = "" }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const send = (status: number, text: string, type = "text/plain; charset=utf-8"): void => {
      response.writeHead(status, { "content-type": type }).end(method === "HEAD" ? undefined : text);
    };
    if (method !== "GET" && method !== "HEAD") return send(405, "Method Not Allowed\n");
    const [path] = url.split("?");
    if (path === "/healthz") return send(200, "OK");
    if (path !== "/metrics") return send(404, "Not Found\n");
    try {
      send(200, await metrics(), METRICS_TYPE);
    } catch (error) {
      log("error", "The metrics cannot be read", { error });
      send(500, "the metrics cannot be read: see the log\n");
    }
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function listenError(error: Error, { address, port }: EndpointOptions): Error {
  const code = "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return new ConfigError(`--port: ${port} of ${address} is in use; choose another port`, { cause: error });
  if (code === "EACCES")
    return new ConfigError(`--port: this user may not listen on ${port}; choose a port from 1024`, { cause: error });
  if (code === "EADDRNOTAVAIL")
    return new ConfigError(`--address: ${address} is not an address of this machine`, { cause: error });
  return error;
}
