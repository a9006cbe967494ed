import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type Clock, type Random, seededRandom, systemClock } from "@millwright/base";
import type { Emulator, EmulatorReply, EmulatorRequest, Refusal, RequestSubject } from "./emulator.ts";
import { createExchangeCheck } from "./exchange-check.ts";
import { createFaultPlan, type FaultPlan, type FaultRule } from "./fault-plan.ts";
import { createRequestLog, type RequestEnd, type RequestLog } from "./request-log.ts";
import { createTokenBuckets, type Throttle } from "./token-bucket.ts";

/** Options of the server of an emulator. */
export interface EmulatorServerOptions {
  /** Default: the system's. With a virtual clock, delayed responses wait until it advances. */
  readonly clock?: Clock;
  /** For faults with a probability. Default: a fixed seed. */
  readonly random?: Random;
  /** Latency of every request. Default 0. */
  readonly latencyMs?: number;
  /** Rate limit per account. Absent: no limit. */
  readonly throttle?: Throttle;
  /** Serves over TLS. Absent: plain HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** An emulator that listens on the loopback address. */
export interface EmulatorServer {
  /** Starts to listen. Port 0, the default, selects a free one. */
  listen(options?: { readonly port?: number }): Promise<{ readonly url: string }>;
  readonly log: RequestLog;
  readonly faults: FaultPlan;
  /** Errors of the emulator, and differences of requests and responses from the vendor's model. Tests expect none. */
  readonly failures: readonly unknown[];
  /** Closes all connections, and resolves when they are closed. */
  close(): Promise<void>;
}

const maxBodyBytes = 4 * 1024 * 1024;

/** Puts an emulator behind a server. */
export function createEmulatorServer(emulator: Emulator, options: EmulatorServerOptions = {}): EmulatorServer {
  const { clock = systemClock, random = seededRandom(1), latencyMs = 0 } = options;
  const log = createRequestLog();
  const faults = createFaultPlan(random);
  const take = options.throttle === undefined ? () => true : createTokenBuckets(options.throttle, clock);
  const closing = new AbortController();
  const failures: unknown[] = [];
  const check = createExchangeCheck(emulator, (failure) => failures.push(failure));

  const answer = async (subject: RequestSubject, request: EmulatorRequest): Promise<EmulatorReply> => {
    try {
      return check(subject, request, await emulator.answer(request));
    } catch (error) {
      if (!request.signal.aborted) failures.push(error);
      return { status: 500, headers: { "content-type": "text/plain" }, body: "the emulator failed" };
    }
  };

  const serve = async (
    subject: RequestSubject,
    request: EmulatorRequest,
    response: ServerResponse,
  ): Promise<RequestEnd> => {
    const { signal } = request;
    const fault = faults.strike(subject);
    const delayMs = latencyMs + (fault?.delayMs ?? 0);
    if (delayMs > 0) await clock.sleep(delayMs, signal);
    const isLimited = options.throttle?.operations?.includes(subject.operation) ?? true;
    if (isLimited && !take(subject.account ?? "")) {
      return send(response, check(subject, request, emulator.refuse(emulator.throttled, subject.operation)));
    }
    if (fault?.end === undefined) return send(response, await answer(subject, request));
    const showsAnswer = fault.end.kind === "truncate" || fault.end.kind === "stall";
    if (fault.afterAcceptance === true && !showsAnswer) await answer(subject, request);
    else if (fault.end.kind === "refuse")
      check(subject, request, emulator.refuse(fault.end.refusal, subject.operation));
    else if (!showsAnswer) check(subject, request, undefined);
    const refused = (refusal: Refusal): EmulatorReply => emulator.refuse(refusal, subject.operation);
    return endByFault(fault.end, response, refused, () => answer(subject, request), signal);
  };

  const listener: RequestListener = (incoming, response) => {
    void (async () => {
      const gone = new AbortController();
      response.once("close", () => gone.abort(new Error("the client disconnected")));
      const body = await readBody(incoming);
      if (body === undefined) {
        incoming.socket.destroy();
        return;
      }
      const request: EmulatorRequest = {
        method: incoming.method ?? "GET",
        url: new URL(incoming.url ?? "/", `http://${incoming.headers.host ?? "emulator.invalid"}`),
        headers: incoming.headers,
        body,
        signal: AbortSignal.any([gone.signal, closing.signal]),
      };
      const subject = emulator.identify(request);
      const end = log.begin(subject, request, clock.now());
      try {
        end(await serve(subject, request, response));
      } catch {
        end("gone");
        response.destroy();
      }
    })();
  };

  const server = options.tls === undefined ? createServer(listener) : createSecureServer({ ...options.tls }, listener);
  server.on("connection", () => log.connected());

  return {
    log,
    faults,
    failures,
    async listen({ port = 0 } = {}) {
      const bound = await startListening(server, port);
      return { url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${bound}` };
    },
    close: () =>
      new Promise((resolve) => {
        closing.abort(new Error("the emulator stops"));
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function startListening(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** The text of a request; undefined when it exceeds the limits of clouds. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of incoming) {
      const chunk: Buffer = part;
      size += chunk.length;
      if (size > maxBodyBytes) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, reply: EmulatorReply): RequestEnd {
  if (response.destroyed) return "gone";
  response.writeHead(reply.status, reply.headers);
  response.end(reply.body);
  return reply.status;
}

async function endByFault(
  end: NonNullable<FaultRule["end"]>,
  response: ServerResponse,
  refused: (refusal: Refusal) => EmulatorReply,
  answer: () => Promise<EmulatorReply>,
  signal: AbortSignal,
): Promise<RequestEnd> {
  switch (end.kind) {
    case "refuse":
      return send(response, refused(end.refusal));
    case "reply":
      return send(response, end.reply);
    case "reset":
      response.socket?.resetAndDestroy();
      return "reset";
    case "hang":
      await untilGone(signal);
      return "hang";
    case "truncate":
      sendHalf(response, await answer(), () => response.socket?.destroySoon());
      return "truncated";
    case "stall":
      sendHalf(response, await answer());
      await untilGone(signal);
      return "stalled";
  }
}

const untilGone = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

function sendHalf(response: ServerResponse, { status, headers, body }: EmulatorReply, sent?: () => void): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, "content-length": String(bytes.length) });
  response.write(bytes.subarray(0, bytes.length >> 1), () => sent?.());
}
