import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { getBuiltinModule } from "node:process";
import { limitConnections } from "./limit-connections.ts";
import type { ConnectionLimits } from "./select-connection.ts";

/** How much a server holds for clients that it does not know. */
export interface ServerLimits extends ConnectionLimits {
  /** Most bytes of the headers of a request. */
  readonly headerBytes: number;
}

/** In which the headers of a request must arrive, milliseconds. */
export const HEADERS_MS = 5_000;

/** In which the whole request must arrive, milliseconds. */
const REQUEST_MS = 10_000;

const CHECK_MS = 1_000;

/**
 * Creates a server of small requests that hostile clients cannot exhaust: slow requests are cut, connections are limited, and each has one request at a time.
 * Node runs pipelined requests at once; no client of ours sends them, and a connection with one is closed.
 */
export function createLimitedServer(
  limits: ServerLimits,
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = getBuiltinModule("node:http").createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: CHECK_MS,
    },
    (request, response) => {
      const { socket } = request;
      if (!connections.begin(socket)) return void socket.destroy();
      response.on("close", () => connections.end(socket));
      respond(request, response);
    },
  );
  const connections = limitConnections(server, limits);
  return server;
}
