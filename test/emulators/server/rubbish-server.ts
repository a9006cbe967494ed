import { createServer, type Socket } from "node:net";

/** A server that is not HTTP: it responds to everything with the greeting of another protocol. */
export interface RubbishServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server with an invalid protocol, on the loopback address. */
export async function listenWithRubbish(): Promise<RubbishServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.end("SSH-2.0-OpenSSH\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A client may keep its side of the connection open forever.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
