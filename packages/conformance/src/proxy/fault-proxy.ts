import type { IncomingMessage, ServerResponse } from "node:http";
import { getBuiltinModule } from "node:process";
import type { Clock } from "@millwright/base";
import { sendLarge, sendSlowly } from "./answers.ts";
import type { ProxyFault } from "./fault.ts";

const [http, https] = [getBuiltinModule("node:http"), getBuiltinModule("node:https")];

/** A request at the proxy. */
export interface ProxyRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
}

/** Chooses the fault of a request by its number since the plan was set, from 0; undefined for none. */
export type FaultPlan = (index: number, request: ProxyRequest) => ProxyFault | undefined;

/** Where the proxy forwards to, and how it listens. */
export interface FaultProxyOptions {
  readonly upstream: string;
  /** PEM of the CA of an `https` upstream. */
  readonly ca?: string;
  /** Key and certificate for clients. Absent: plain HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly clock: Clock;
}

/** A reverse proxy between a driver and its cloud that fails as planned. */
export interface FaultProxy {
  readonly url: string;
  /** Requests since the plan was set. */
  readonly requests: readonly ProxyRequest[];
  /** Bytes of `large` responses that clients have taken since the plan was set. */
  readonly largeBytes: number;
  /** Resolves when the cloud has answered all requests that were forwarded. */
  idle(): Promise<void>;
  /** Replaces the plan, and starts to count from 0. Absent: no faults. */
  plan(faults?: FaultPlan): void;
  /** Closes all connections. */
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const part of incoming) {
    const chunk: Buffer = part;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Sends a request to the cloud as it came, with its Host: signatures cover it. */
function forward(incoming: IncomingMessage, body: Buffer, { upstream, ca }: FaultProxyOptions): Promise<Answer> {
  const url = new URL(upstream);
  const send = url.protocol === "https:" ? https.request : http.request;
  const options = {
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port,
    method: incoming.method,
    path: incoming.url,
    headers: incoming.headers,
    agent: false as const,
    ...(ca === undefined ? {} : { ca, servername: "" }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = send(options, (reply) => {
      bodyOf(reply).then(
        (bytes) => resolve({ status: reply.statusCode ?? 502, headers: reply.headers, body: bytes }),
        reject,
      );
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

/** Headers of one connection. */
const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding", "content-length"]);

const headersOf = ({ headers, body }: Answer): Record<string, string | string[]> => ({
  ...Object.fromEntries(
    Object.entries(headers).flatMap(([key, value]) => (hopByHop.has(key) || value === undefined ? [] : [[key, value]])),
  ),
  "content-length": String(body.length),
});

/** What a response is made from. */
interface Upstream {
  readonly forward: () => Promise<Answer>;
  readonly clock: Clock;
  readonly onSent: (bytes: number) => void;
}

async function serve(
  fault: ProxyFault | undefined,
  response: ServerResponse,
  { forward, clock, onSent }: Upstream,
): Promise<void> {
  switch (fault?.kind) {
    case "cut-before":
      response.destroy();
      return;
    case "cut-after":
      await forward();
      response.destroy();
      return;
    case "hang":
      return;
    case "answer":
      response.writeHead(fault.status, { ...fault.headers });
      response.end(fault.body);
      return;
    case "slow":
      return sendSlowly(response, clock);
    case "large":
      return sendLarge(response, fault.bytes, onSent);
    case "truncate":
    case undefined: {
      const answer = await forward();
      response.writeHead(answer.status, headersOf(answer));
      if (fault === undefined) response.end(answer.body);
      else response.write(answer.body.subarray(0, answer.body.length >> 1), () => response.socket?.destroySoon());
      return;
    }
  }
}

/** Starts a proxy on a free loopback port. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const requests: ProxyRequest[] = [];
  const forwarded = new Set<Promise<unknown>>();
  let planned: FaultPlan | undefined;
  let largeBytes = 0;
  const upstream = (incoming: IncomingMessage, body: Buffer): Promise<Answer> => {
    const answer = forward(incoming, body, options);
    const ended: Promise<unknown> = answer.then(
      () => undefined,
      () => undefined,
    );
    forwarded.add(ended);
    void ended.then(() => forwarded.delete(ended));
    return answer;
  };
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    const request: ProxyRequest = { method: incoming.method ?? "GET", path: incoming.url ?? "/" };
    const fault = planned?.(requests.length, request);
    requests.push(request);
    response.on("error", () => response.destroy());
    bodyOf(incoming)
      .then((body) =>
        serve(fault, response, {
          forward: () => upstream(incoming, body),
          clock: options.clock,
          onSent: (bytes) => (largeBytes += bytes),
        }),
      )
      .catch(() => response.destroy());
  };
  const server = options.tls === undefined ? http.createServer(listener) : https.createServer(options.tls, listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    requests,
    get largeBytes() {
      return largeBytes;
    },
    async idle() {
      // A request that has just arrived is forwarded after its body.
      await new Promise((resolve) => setImmediate(resolve));
      while (forwarded.size > 0) await Promise.all(forwarded);
    },
    plan(faults) {
      planned = faults;
      largeBytes = 0;
      requests.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
