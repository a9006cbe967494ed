import type { RequestListener } from "node:http";
import type { Connection, ConnectionRequest, ConnectionResponse, Connections } from "@millwright/kube";
import type { Random } from "@millwright/base";
import type { Scheduler, Scope } from "../world/scheduler.ts";
import { createIncomingBody } from "./incoming-body.ts";
import { serverSideOf } from "./captured-response.ts";
import type { LineFate, NetworkFaults, RequestFate, SentRequest } from "./fates.ts";

/** A request that reached the server, and its outcome. */
export interface ServedRequest extends SentRequest {
  /** 0: the connection was reset. */
  readonly status: number;
}

/** What a network is made of. */
export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: NetworkFaults;
  /** The server at its other end. */
  readonly serve: RequestListener;
  /** Called when the server has answered a request, and when it starts to answer a watch. */
  readonly onServed: (request: ServedRequest) => void;
}

/** The network between processes and the API server: it delays, loses, repeats and cuts. */
export interface Network {
  /** The connections of a process. Nothing arrives at a scope that is dead. */
  connect(owner: Scope): Connections;
}

const slowestMs = 12;

/** An error of a socket, as undici gives it. A stack would be that of the scheduler, and costs more than the request. */
function socketError(code: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`simulated network: ${code}`), { code });
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

const statusText = ({ status, reason, message }: Extract<RequestFate, { kind: "refused" }>): string =>
  JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: message ?? `simulated fault: ${status}`,
    reason,
    code: status,
  });

const expiredLine = `${JSON.stringify({
  type: "ERROR",
  object: { kind: "Status", status: "Failure", code: 410, reason: "Expired", message: "too old resource version" },
})}\n`;

/** The way back of one connection: what was sent arrives in order. */
interface WayBack {
  readonly response: Promise<ConnectionResponse>;
  /** The head of the response arrives. */
  head(status: number, headers: ConnectionResponse["headers"]): void;
  /** A response arrives as a whole. */
  whole(status: number, headers: ConnectionResponse["headers"], body: readonly Buffer[]): void;
  chunk(bytes: Buffer, moreMs?: number): void;
  end(): void;
  /** The connection fails, when everything before has arrived. */
  reset(code: string): void;
  /** The connection fails for its client now. */
  fail(error: unknown): void;
}

interface Wire {
  readonly owner: Scope;
  readonly scheduler: Scheduler;
  readonly latencyMs: () => number;
  /** Closes it at both ends. */
  readonly destroy: () => void;
}

function createWayBack({ owner, scheduler, latencyMs, destroy }: Wire): WayBack {
  const { promise, resolve, reject } = Promise.withResolvers<ConnectionResponse>();
  const incoming = createIncomingBody(destroy);
  const inFlight: (() => void)[] = [];
  let lastMs = 0;
  const later = (run: () => void, moreMs = 0): void => {
    lastMs = Math.max(lastMs, scheduler.nowMs() + latencyMs() + moreMs);
    inFlight.push(run);
    owner.clock.setTimer(lastMs - scheduler.nowMs(), () => inFlight.shift()?.());
  };
  const fail = (error: unknown): void => {
    reject(error);
    incoming.fail(error);
  };
  const answer = (statusCode: number, headers: ConnectionResponse["headers"]): void =>
    resolve({ statusCode, headers, body: incoming.body });
  return {
    response: promise,
    head: (status, headers) => later(() => answer(status, headers)),
    whole: (status, headers, body) =>
      later(() => {
        answer(status, headers);
        for (const bytes of body) incoming.add(bytes);
        incoming.end();
      }),
    chunk: (bytes, moreMs) => later(() => incoming.add(bytes), moreMs),
    end: () => later(incoming.end),
    reset: (code) => later(() => fail(socketError(code))),
    fail,
  };
}

/** Delivers a line of a watch. Returns whether the watch goes on. */
function deliverLine(back: WayBack, bytes: Buffer, fate: LineFate | undefined): boolean {
  switch (fate?.kind) {
    case undefined:
      back.chunk(bytes);
      return true;
    case "late":
      back.chunk(bytes, fate.ms);
      return true;
    case "twice":
      back.chunk(Buffer.concat([bytes, bytes]));
      return true;
    case "cut":
      back.chunk(bytes.subarray(0, bytes.length / 2));
      break;
    case "expired":
      back.chunk(Buffer.from(expiredLine));
      break;
    case "lost":
      break;
    case "silence":
      return false;
  }
  back.end();
  return false;
}

/** A server that is not well refuses a request. */
function refuse(back: WayBack, fate: Extract<RequestFate, { kind: "refused" }>): void {
  const { retryAfterSeconds } = fate;
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  back.whole(fate.status, headers, [Buffer.from(statusText(fate))]);
}

/** Makes a {@link Network}. */
export function createNetwork({ scheduler, random, faults, serve, onServed }: NetworkOptions): Network {
  const wires = scheduler.scope("network");
  const latencyMs = (): number => 1 + Math.floor(random.next() * slowestMs);

  /** Sends a request. What destroys its connection is in `open` until then. */
  function send(owner: Scope, request: ConnectionRequest, open: Set<() => void>) {
    const { path, method, signal } = request;
    const sent: SentRequest = { sender: owner.name, method, path, isWatch: path.includes("watch=true") };
    const fate = faults.fateOf(sent);
    const isAnswered = fate === undefined || fate.kind === "slow";
    const destroy = (): void => {
      open.delete(destroy);
      close(socketError("ECONNABORTED"));
    };
    const back = createWayBack({ owner, scheduler, latencyMs, destroy });
    let response: { destroy(): unknown } | undefined;
    let isCut = false;
    const cut = (): void => {
      isCut = true;
      response?.destroy();
    };
    const close = (error: unknown): void => {
      back.fail(error);
      cut();
    };
    const arrive = (): void => {
      // A write that was sent is carried out, whatever became of its sender.
      if (method === "GET" && (isCut || owner.isDead())) return;
      const body: Buffer[] = [];
      let arriveAsWhole = (): void => undefined;
      const server = serverSideOf(request, {
        head(status, headers) {
          onServed({ ...sent, status });
          arriveAsWhole = () => back.whole(status, headers, body);
          if (isAnswered && sent.isWatch) back.head(status, headers);
          else if (fate?.kind === "reset") back.reset("ECONNRESET");
        },
        chunk(bytes) {
          // The operating system of a dead process closes its connections.
          if (owner.isDead()) cut();
          else if (!isAnswered || isCut) return;
          else if (!sent.isWatch) body.push(bytes);
          else if (!deliverLine(back, bytes, faults.lineFateOf(sent))) cut();
        },
        end() {
          if (isAnswered && !isCut) (sent.isWatch ? back.end : arriveAsWhole)();
        },
        reset() {
          if (!isCut) back.reset("ECONNRESET");
        },
      });
      response = server.response;
      serve(server.request, server.response);
    };

    open.add(destroy);
    signal.addEventListener("abort", () => close(signal.reason), { once: true });
    if (signal.aborted) close(signal.reason);
    else if (fate?.kind === "unreachable") back.reset("ECONNREFUSED");
    else if (fate?.kind === "refused") refuse(back, fate);
    else if (fate?.kind === "reset" && !fate.served) back.reset("ECONNRESET");
    else if (fate?.kind !== "lost" || fate.served)
      wires.clock.setTimer(latencyMs() + (fate?.kind === "slow" ? fate.ms : 0), arrive);
    return back.response;
  }

  return {
    connect(owner) {
      const watches = new Set<() => void>();
      const pool: Connection = { request: (request) => send(owner, request, new Set()) };
      const streams: Connection = { request: (request) => send(owner, request, watches) };
      return {
        pool: async () => pool,
        streams: async () => streams,
        async close() {
          for (const destroy of watches) destroy();
        },
      };
    },
  };
}
