import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, ConfigError } from "@millwright/base";
import { type Log, messageOf } from "@millwright/kube";
import { createLimitedServer, formatAddress, listen, type TokenGate } from "@millwright/kube/endpoints";
import type { FleetReader } from "./fleet/fleet-reader.ts";
import { type AccessOptions, createAccess, isLoopback } from "./http/access.ts";
import { deploymentDetails, machineDetails, type ToYaml } from "./http/details.ts";
import { type PageFile, readPageFiles } from "./http/page-files.ts";
import { createFleetStream, type FleetStream } from "./stream/fleet-stream.ts";

/** How the page is served. */
export interface DashboardOptions {
  /** An IP address of this machine. On a loopback address all who reach it may read; elsewhere a bearer token is needed. */
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What is shown: one for each namespace. */
  readonly fleets: readonly FleetReader[];
  /** Reviews tokens: TokenReview and SubjectAccessReview. */
  readonly reviewClient: AccessOptions["reviewClient"];
  readonly toYaml: ToYaml;
  readonly clock: Clock;
  readonly log: Log;
}

/** A page that is being served. */
export interface Dashboard {
  readonly port: number;
  /** Where a browser on this machine finds it. */
  readonly url: string;
  close(): Promise<void>;
}

/** Only our own files, no inline scripts or styles, no other sites. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
};

/** A stream with a token ends after this time, milliseconds: the next one reviews the token again. */
const STREAM_MS = 5 * 60_000;

/** A browser opens six. All may come through one proxy. */
const LIMITS = { total: 200, perPeer: 100, headerBytes: 32 * 1024 };

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { ...securityHeaders, "content-type": type });
  response.end(response.req.method === "HEAD" ? undefined : body);
}

const sendText = (response: ServerResponse, status: number, text: string): void =>
  send(response, status, "text/plain; charset=utf-8", `${text}\n`);

/** What requests are answered from. */
interface Site extends DashboardOptions {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly stream: FleetStream;
  readonly access: TokenGate;
}

/** Sends rows and what changes until the client is gone. */
function sendStream(response: ServerResponse, { stream, address, clock }: Site): void {
  const close = stream.open({
    send(event) {
      if (!response.headersSent) response.writeHead(200, { ...securityHeaders, "content-type": "text/event-stream" });
      return response.write(event);
    },
    onDrain: (resume) => void response.once("drain", resume),
  });
  if (close === undefined) return sendText(response, 503, "too many pages are open");
  const expiry = isLoopback(address) ? undefined : clock.setTimer(STREAM_MS, () => response.end());
  response.on("close", () => {
    expiry?.cancel();
    close();
  });
}

const details = { machines: machineDetails, deployments: deploymentDetails } as const;

const isDetailKind = (kind: string): kind is keyof typeof details => Object.hasOwn(details, kind);

/** The parts of `/api/KIND/NAMESPACE/NAME`; `undefined` for another path. */
function readDetailPath(path: string): readonly [keyof typeof details, string, string] | undefined {
  const [, kind = "", ...parts] = /^\/api\/(\w+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if (!isDetailKind(kind)) return undefined;
  try {
    const [namespace = "", name = ""] = parts.map(decodeURIComponent);
    return [kind, namespace, name];
  } catch {
    return undefined;
  }
}

async function sendDetails(path: string, response: ServerResponse, { fleets, toYaml }: Site): Promise<void> {
  const [kind, namespace, name = ""] = readDetailPath(path) ?? [];
  const fleet = fleets.find((each) => each.namespace === namespace);
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("the client is gone")));
  const found = kind && fleet && (await details[kind](fleet, name, toYaml, gone.signal));
  if (found === undefined) return sendText(response, 404, "Not Found");
  send(response, 200, "application/json", JSON.stringify(found));
}

async function respond(request: IncomingMessage, response: ServerResponse, site: Site): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") return sendText(response, 405, "Method Not Allowed");
  const path = (request.url ?? "/").replace(/\?.*$/, "");
  const file = site.files.get(path);
  // Files are public. They are not served to another host either: with a loopback address there is no other.
  const rejected = file !== undefined && !isLoopback(site.address) ? undefined : await site.access(request);
  if (rejected !== undefined) {
    const { status, retryAfterSeconds } = rejected;
    if (status === 401) response.setHeader("www-authenticate", 'Bearer realm="millwright"');
    if (retryAfterSeconds !== undefined) response.setHeader("retry-after", retryAfterSeconds);
    return sendText(response, rejected.status, rejected.text);
  }
  if (file !== undefined) return send(response, 200, file.type, file.content);
  if (path === "/api/stream") return sendStream(response, site);
  return sendDetails(path, response, site);
}

/** What a browser on this machine opens. An address that means all of them is reached by a loopback one, whatever families there are. */
const loopbackOf = (address: string): string =>
  address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "localhost" : address;

/**
 * Serves the page. It reads only, and only what controllers have in their caches, besides the events of an object that someone opens.
 *
 * @throws ConfigError when the address cannot be listened on
 */
export async function serveDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { address, port, fleets, reviewClient, clock, log } = options;
  const namespaces = fleets.map(({ namespace }) => namespace);
  const site: Site = {
    ...options,
    files: await readPageFiles(),
    stream: createFleetStream(fleets, clock),
    access: createAccess({ address, reviewClient, namespaces, clock }),
  };
  const server = createLimitedServer(LIMITS, (request, response) => {
    respond(request, response, site).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return void response.destroy();
      // What failed may have quoted anything: it is for the log, and those who read reports.
      log("warn", "The dashboard cannot show an object", { path: request.url ?? "", error: messageOf(error) });
      sendText(response, 502, "This cannot be read at the moment; the log of the controllers has the reason.");
    });
  });
  const actual = await listen(server, { address, port }).catch((error: unknown) => {
    throw new ConfigError(`cannot listen on ${formatAddress({ address, port })}: ${messageOf(error)}`);
  });
  server.on("error", (error) => log("error", "The dashboard is not served any more", { error: error.message }));
  return {
    port: actual,
    url: `http://${formatAddress({ address: loopbackOf(address), port: actual })}/`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
