import { getBuiltinModule } from "node:process";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";

/** A request as the test server saw it, body read. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A real HTTP server on a loopback port, for tests of what goes over the wire. */
export interface LoopbackServer {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** TCP connections that were accepted so far. */
  readonly connections: () => number;
  /** TCP connections that are open now. */
  readonly open: () => number;
  readonly close: () => Promise<void>;
}

/** Starts a server whose handler gets each request with its body. */
export async function startLoopbackServer(
  handle: (request: SeenRequest, response: ServerResponse) => void | Promise<void>,
): Promise<LoopbackServer> {
  const requests: SeenRequest[] = [];
  let accepted = 0;
  let open = 0;
  const listener: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const request = {
        method: incoming.method ?? "",
        url: incoming.url ?? "",
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      requests.push(request);
      void handle(request, response);
    });
  };
  const server = getBuiltinModule("node:http").createServer(listener);
  server.on("connection", (socket) => {
    accepted++;
    open++;
    socket.on("close", () => open--);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => accepted,
    open: () => open,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(new Error("the server has no port"));
    });
  });
}
