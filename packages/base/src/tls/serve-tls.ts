import type { Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { Clock } from "../clock.ts";
import { followTlsFiles, type TlsFiles, type TlsLog, type TlsMaterial } from "./follow-tls-files.ts";
import { clientRejection } from "./client-rejection.ts";
import { setServerContext, wrappedBy } from "./node-internals.ts";

/** A rejected client is reported once in this time, milliseconds. */
const REPORT_MS = 600_000;
/** The most clients that are remembered. */
const MAX_REPORTED = 1_000;

/** Sessions are resumed with this server only. */
const sessionIdContext = "millwright";

/** How long a client may take for its handshake, milliseconds. */
const HANDSHAKE_MS = 10_000;

/** Lets new connections use this material. */
const useMaterial = (server: Server, { options }: TlsMaterial): void =>
  setServerContext(server, { ...options, sessionIdContext });

/** Reports each rejected client, and each reason, once in a while. */
function createReport(ca: string, clock: Pick<Clock, "monotonicMs">, log: TlsLog) {
  const reportedMs = new Map<string, number>();
  return (peer: string, code: string): void => {
    const because = clientRejection(code, ca);
    const key = `${peer} ${code}`;
    const nowMs = clock.monotonicMs();
    if (nowMs - (reportedMs.get(key) ?? Number.NEGATIVE_INFINITY) < REPORT_MS) return;
    if (reportedMs.size >= MAX_REPORTED) reportedMs.clear();
    reportedMs.set(key, nowMs);
    log("warn", "A client was rejected", { peer, because });
  };
}

/** Options of {@link createTlsServer}. */
export interface TlsServerOptions {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: TlsLog;
  /** How long a client may take for its handshake, milliseconds. Default 10 s. */
  readonly handshakeMs?: number;
}

/**
 * Makes a server of HTTP/2 over TLS whose clients need a certificate that an authority of the file `ca` has signed. New connections use the files as they are then. It does not listen yet.
 *
 * @param onConnection gets each connection whose client was verified
 * @throws ConfigError in one line when the files cannot be used
 */
export function createTlsServer(
  files: TlsFiles,
  onConnection: (socket: TLSSocket) => void,
  { clock, log, handshakeMs = HANDSHAKE_MS }: TlsServerOptions,
): Server {
  const follow = followTlsFiles(files, log);
  let current = follow();
  const report = createReport(files.ca, clock, log);
  const options = { requestCert: true, rejectUnauthorized: true, ALPNProtocols: ["h2"], handshakeTimeout: handshakeMs };
  const server = createServer(options, (socket) => {
    // gRPC listens only to its sessions.
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  useMaterial(server, current);
  const peers = new WeakMap<object, string>();
  server.prependListener("connection", (socket: Socket) => {
    peers.set(socket, socket.remoteAddress ?? "");
    const latest = follow();
    if (latest !== current) useMaterial(server, latest);
    current = latest;
  });
  server.on("tlsClientError", (error: Error & { readonly code?: string }, socket) => {
    // Null when the certificate was fine, also where the types deny it; a probe that only connects is not worth a line.
    const rejected: unknown = socket.authorizationError;
    const code = typeof rejected === "string" ? rejected : (error.code ?? "");
    // The socket of TLS has lost its address by now; the one that it wraps is what "connection" was emitted with.
    const wrapped = wrappedBy(socket);
    const peer = wrapped && peers.get(wrapped);
    if (rejected || code.startsWith("ERR_SSL")) report(peer ?? "unknown", code);
    // Node leaves one open whose handshake took too long.
    socket.destroy();
  });
  return server;
}
