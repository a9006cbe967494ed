import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { type Clock, ConfigError } from "@millwright/base";
import { type Log, messageOf } from "@millwright/kube";
import { createLimitedServer, formatAddress, listen } from "@millwright/kube/endpoints";
import { checkProfilingAccess, type ProfilingAccess, rejectionOf } from "./access.ts";
import { readHeapStatistics, recordCpuProfile, takeHeapSnapshot } from "./profiles.ts";

/** How profiles are served. */
export interface ProfilingOptions extends ProfilingAccess {
  /** 0 takes a free one. */
  readonly port: number;
  readonly clock: Pick<Clock, "sleep">;
  readonly log: Log;
}

/** Profiles that are being served. */
export interface ProfilingServer {
  readonly port: number;
  close(): Promise<void>;
}

/** One profile is made at a time. */
const LIMITS = { total: 20, perPeer: 20, headerBytes: 16 * 1024 };

/** Of a CPU profile, seconds. */
const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 60;

const index = `/debug/cpu?seconds=${DEFAULT_SECONDS}  CPU profile of the main thread, at most ${MAX_SECONDS} s; open it as a .cpuprofile
/debug/heap              statistics of the heap
/debug/heap-snapshot     all objects of the heap, with secrets; needs --profiling-token-file; open it as a .heapsnapshot
`;

class Rejection extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The duration that a request names, milliseconds. */
function durationOf(query: URLSearchParams): number {
  const text = query.get("seconds") ?? String(DEFAULT_SECONDS);
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > MAX_SECONDS)
    throw new Rejection(400, `seconds: expected a whole number from 1 to ${MAX_SECONDS}`);
  return seconds * 1_000;
}

/** One request: where the profile goes, and when it is of no use any more. */
interface Served {
  readonly url: URL;
  readonly response: ServerResponse;
  /** Aborts when the client is gone, or the server is closed. */
  readonly signal: AbortSignal;
}

function send(response: ServerResponse, type: string, body: string, file?: string): void {
  response.writeHead(200, {
    "content-type": type,
    "cache-control": "no-store",
    ...(file === undefined ? {} : { "content-disposition": `attachment; filename="${file}"` }),
  });
  response.end(body);
}

async function sendCpuProfile({ url, response, signal }: Served, { clock }: ProfilingOptions): Promise<void> {
  // A client that is gone ends the recording early.
  const untilEnd = clock.sleep(durationOf(url.searchParams), signal).catch(() => undefined);
  send(response, "application/json", await recordCpuProfile(untilEnd), "millwright.cpuprofile");
}

async function sendHeapSnapshot({ response, signal }: Served, { tokenFile }: ProfilingOptions): Promise<void> {
  if (tokenFile === undefined)
    throw new Rejection(403, "a heap snapshot has secrets: it is served only with --profiling-token-file");
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    "cache-control": "no-store",
    "content-disposition": 'attachment; filename="millwright.heapsnapshot"',
  });
  await pipeline(takeHeapSnapshot(), response, { signal });
}

/** Lets one profile be made at a time: each slows the process down. */
function createGate() {
  let isTaken = false;
  return async (run: () => Promise<void>): Promise<void> => {
    if (isTaken) throw new Rejection(429, "another profile is being made; try again when it is there");
    isTaken = true;
    try {
      await run();
    } finally {
      isTaken = false;
    }
  };
}

/** Makes the function that responds to requests. */
function createResponder(options: ProfilingOptions) {
  const alone = createGate();
  const respond = async (served: Served): Promise<void> => {
    const { url, response } = served;
    switch (url.pathname) {
      case "/debug":
      case "/debug/":
        return send(response, "text/plain; charset=utf-8", index);
      case "/debug/heap":
        return send(response, "application/json", readHeapStatistics());
      case "/debug/cpu":
        return alone(() => sendCpuProfile(served, options));
      case "/debug/heap-snapshot":
        return alone(() => sendHeapSnapshot(served, options));
      default:
        throw new Rejection(404, "Not Found");
    }
  };
  return async (request: IncomingMessage, response: ServerResponse, closed: AbortSignal): Promise<void> => {
    const gone = new AbortController();
    response.on("close", () => gone.abort(new Error("the client is gone")));
    try {
      const rejected = await rejectionOf(request, options);
      if (rejected !== undefined) throw new Rejection(rejected.status, rejected.text);
      if (request.method !== "GET") throw new Rejection(405, "Method Not Allowed");
      const url = new URL(request.url ?? "/", "http://localhost");
      if (url.pathname !== "/debug/heap" && url.pathname.startsWith("/debug/"))
        options.log("info", "A profile is requested", { path: url.pathname });
      await respond({ url, response, signal: AbortSignal.any([gone.signal, closed]) });
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      const status = error instanceof Rejection ? error.status : 500;
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
      response.end(`${messageOf(error)}\n`);
    }
  };
}

/**
 * Serves profiles of the process over HTTP, on a port of their own: on a loopback address to all, elsewhere to those who have the token.
 *
 * @throws ConfigError when the address may not be used, or not be listened on
 */
export async function serveProfiles(options: ProfilingOptions): Promise<ProfilingServer> {
  const { address, port, log } = options;
  checkProfilingAccess(options);
  const closed = new AbortController();
  const respond = createResponder(options);
  const server = createLimitedServer(LIMITS, (request, response) => void respond(request, response, closed.signal));
  const actual = await listen(server, { address, port }).catch((error: unknown) => {
    const at = formatAddress({ address, port });
    throw new ConfigError(`--profiling-address: cannot listen on ${at}: ${messageOf(error)}`);
  });
  server.on("error", (error) => log("error", "Profiles are not served any more", { error: error.message }));
  return {
    port: actual,
    async close() {
      closed.abort(new Error("the process is stopping"));
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
