import type { IncomingHttpHeaders, RequestListener, Server } from "node:http";
import { getBuiltinModule } from "node:process";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A connection that someone asked a proxy for. */
export interface AskedTunnel {
  /** `host:port`. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** How {@link startRecordingProxy} behaves. */
export interface RecordingProxyOptions {
  /** `user:password`; without them it answers 407. Default: everybody may use it. */
  readonly credentials?: string;
  /** Answers every request with this status. */
  readonly refuse?: number;
  /** Where tunnels really end: `host:port` of a server on this machine for the target that was asked for. Default: the target. */
  readonly forward?: (target: string) => string;
  /** Makes it an `https` proxy. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** An HTTP proxy on a loopback port that knows CONNECT and nothing else, and keeps what it was asked for. */
export interface RecordingProxy {
  /** Without credentials. */
  readonly url: string;
  readonly tunnels: readonly AskedTunnel[];
  /** Tunnels that are open now. */
  open(): number;
  close(): Promise<void>;
}

/** Starts a proxy, for tests of what goes through one. */
export async function startRecordingProxy(options: RecordingProxyOptions = {}): Promise<RecordingProxy> {
  const tunnels: AskedTunnel[] = [];
  const sockets = new Set<Socket>();
  let open = 0;
  const refuseOthers: RequestListener = (_, response) => void response.writeHead(405).end();
  const server: Server =
    options.tls === undefined
      ? getBuiltinModule("node:http").createServer(refuseOthers)
      : getBuiltinModule("node:https").createServer(options.tls, refuseOthers);
  const expected =
    options.credentials === undefined ? undefined : `Basic ${Buffer.from(options.credentials).toString("base64")}`;

  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("connect", ({ url: target = "", headers }, socket: Duplex, head: Buffer) => {
    tunnels.push({ target, headers });
    socket.on("error", () => socket.destroy());
    const status =
      options.refuse ?? (expected !== undefined && headers["proxy-authorization"] !== expected ? 407 : 200);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${(options.forward ?? String)(target)}`);
    const upstream = connect({ host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port) || 80 }, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream);
    open++;
    upstream.on("error", () => socket.destroy());
    socket.on("close", () => {
      open--;
      upstream.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    tunnels,
    open: () => open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
