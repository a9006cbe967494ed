/* oxlint-disable no-restricted-globals -- there is no injected clock in this thread, and nothing of it runs in virtual time */
/**
 * The thread that sees whether the event loop of the process runs, and serves `/healthz`, `/readyz` and `/metrics`, also while it does not. Started by `startHealthThread` only.
 * Imports nothing but Node, small files of this folder, and the servers for unknown clients.
 */
import { writeSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import type { LogFields } from "@millwright/base";
import { createLimitedServer, createTokenGate, listen, type Rejection } from "@millwright/kube/endpoints";
import {
  type FromHealthThread,
  type HealthReport,
  type HealthThreadData,
  releaseMs,
  type ToHealthThread,
} from "./health-messages.ts";
import { readLastCall } from "./last-call.ts";
import { followStall, type Stall } from "./stall.ts";

/** Between two looks at the heartbeat, milliseconds. */
const INTERVAL_MS = 500;

/** A process whose event loop is blocked for so long is not ready, milliseconds. */
const UNREADY_MS = 5_000;

/** Prometheus itself waits for ten seconds. Milliseconds. */
const METRICS_MS = 10_000;

/** A client that does not read for so long is disconnected: the metrics of large fleets wait for it. Milliseconds. */
const IDLE_MS = 30_000;

/** Probes and scrapes need a few. A connection costs 25 KiB. */
const LIMITS = { total: 128, perPeer: 64, headerBytes: 16 * 1024 };

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";

interface Reply {
  readonly status: number;
  readonly text: string | readonly Uint8Array[];
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
}

const replyToRejected = ({ status, text, retryAfterSeconds }: Rejection): Reply => ({
  status,
  text: `${text}\n`,
  headers: {
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": retryAfterSeconds }),
  },
});

/** Written at once: streams of a thread are written by the event loop that is blocked. */
function log(level: "warn" | "error", message: string, fields: LogFields): void {
  try {
    writeSync(2, `${JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: message })}\n`);
  } catch {
    // A pipe that is full, or closed: the log is the one thing that can be missing.
  }
}

/** One read of the metrics from the main thread. */
interface MetricsRead {
  readonly id: number;
  readonly parts: Uint8Array[];
  readonly settle: (reply: Reply) => void;
  readonly reply: Promise<Reply>;
}

/** Reads the metrics from the main thread, which may not respond. Reads at the same time are one. */
function createMetricsReader(post: (message: FromHealthThread) => void) {
  let reading: MetricsRead | undefined;
  let lastId = 0;
  const start = (): MetricsRead => {
    const id = ++lastId;
    const { promise: reply, resolve } = Promise.withResolvers<Reply>();
    const settle = (found: Reply): void => {
      clearTimeout(timer);
      reading = undefined;
      resolve(found);
    };
    const late = { status: 503, text: "the process does not respond: its event loop is blocked\n" };
    const timer = setTimeout(() => settle(late), METRICS_MS);
    post({ kind: "metrics", id });
    return { id, parts: [], settle, reply };
  };
  return {
    read(): Promise<Reply> {
      reading ??= start();
      return reading.reply;
    },
    received(message: Extract<ToHealthThread, { kind: "metrics part" | "metrics end" }>): void {
      // Parts of a read that took too long are dropped.
      if (reading?.id !== message.id) return;
      const { parts, settle } = reading;
      if (message.kind === "metrics part") parts.push(message.bytes);
      else if (message.isComplete) settle({ status: 200, text: parts, type: METRICS_TYPE });
      else settle({ status: 500, text: "the metrics cannot be read: see the log\n" });
    },
  };
}

/** Has tokens reviewed by the main thread, which has the client of the API server. */
function createReviews(post: (message: FromHealthThread) => void) {
  const waiting = new Map<number, PromiseWithResolvers<Rejection | undefined>>();
  let lastId = 0;
  return {
    review(token: string): Promise<Rejection | undefined> {
      const reply = Promise.withResolvers<Rejection | undefined>();
      waiting.set(++lastId, reply);
      post({ kind: "review", id: lastId, token });
      return reply.promise;
    },
    received({ id, result }: Extract<ToHealthThread, { kind: "reviewed" }>): void {
      const reply = waiting.get(id);
      waiting.delete(id);
      if (result === "failed") reply?.reject(new Error("the review failed"));
      else reply?.resolve(result);
    },
  };
}

/** Calls back once the response accepts more, or is closed. */
function onceWritable(response: ServerResponse, resume: () => void): void {
  const end = (): void => {
    response.off("drain", end);
    response.off("close", end);
    resume();
  };
  response.on("drain", end);
  response.on("close", end);
}

/** Sends a reply. A part waits until the ones before it were sent: a client that reads slowly, or not at all, costs no buffers. */
async function send(reply: Reply, method: string | undefined, response: ServerResponse): Promise<void> {
  response.writeHead(reply.status, { "content-type": reply.type ?? TEXT_TYPE, ...reply.headers });
  if (method === "HEAD") return void response.end();
  if (typeof reply.text === "string") return void response.end(reply.text);
  for (const part of reply.text) {
    if (response.destroyed) return;
    if (!response.write(part)) await new Promise<void>((resume) => onceWritable(response, resume));
  }
  response.end();
}

function runThread(data: HealthThreadData, port: NonNullable<typeof parentPort>): void {
  const beats = new BigInt64Array(data.memory);
  const post = (message: FromHealthThread): void => port.postMessage(message);
  let report: HealthReport = { problems: ["the process is starting"], running: [] };
  let stall: Stall = { beat: 0n, ms: 0 };
  let isReported = false;
  const metrics = createMetricsReader(post);
  const reviews = createReviews(post);
  const gate = data.endpoints?.needsToken
    ? createTokenGate({ review: reviews.review, clock: { monotonicMs: () => performance.now() } })
    : () => Promise.resolve(undefined);

  const blocked = (): string => `the event loop has been blocked for ${Math.round(stall.ms / 1_000)} s`;
  const details = (): LogFields => ({
    durationMs: Math.round(stall.ms),
    lastCall: readLastCall(data.lastCall),
    running: report.running,
  });

  const isDead = (): boolean => data.stallMs > 0 && stall.ms >= data.stallMs;
  const readiness = (): Reply => {
    const problems = stall.ms >= UNREADY_MS ? [blocked(), ...report.problems] : report.problems;
    return problems.length === 0 ? { status: 200, text: "OK" } : { status: 503, text: `${problems.join("\n")}\n` };
  };
  const replyTo = async (path: string | undefined, request: IncomingMessage): Promise<Reply> => {
    if (path === "/healthz") return isDead() ? { status: 503, text: `${blocked()}\n` } : { status: 200, text: "OK" };
    if (path === "/readyz") return readiness();
    if (path === "/metrics") {
      // Without a wait: a scrape that times out would look like a broken network.
      if (stall.ms >= UNREADY_MS) return { status: 503, text: `${blocked()}\n` };
      const rejected = await gate(request);
      return rejected === undefined ? metrics.read() : replyToRejected(rejected);
    }
    return { status: 404, text: "Not Found\n" };
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url } = request;
    const isRead = method === "GET" || method === "HEAD";
    const reply: Reply = isRead
      ? await replyTo(url?.split("?")[0], request)
      : { status: 405, text: "Method Not Allowed\n" };
    await send(reply, method, response);
  };

  const serve = async (at: NonNullable<HealthThreadData["endpoints"]>): Promise<void> => {
    const server = createLimitedServer(LIMITS, (request, response) => void respond(request, response));
    server.on("error", (error) => {
      post({ kind: "failed", code: "code" in error ? String(error.code) : "", message: error.message });
    });
    server.setTimeout(IDLE_MS);
    // An error is reported by the listener above.
    const bound = await listen(server, at).catch(() => undefined);
    if (bound !== undefined) post({ kind: "listening", port: bound });
  };

  let lookedMs = performance.now();
  const look = (): void => {
    const nowMs = performance.now();
    stall = followStall(stall, Atomics.load(beats, 0), nowMs - lookedMs, INTERVAL_MS);
    lookedMs = nowMs;
    if (stall.ms < UNREADY_MS) isReported = false;
    else if (!isReported) {
      isReported = true;
      log("warn", "The event loop is blocked", details());
    }
    if (data.stallMs > 0 && stall.ms >= data.stallMs + releaseMs) {
      log("error", "The event loop is blocked for too long; the process is killed, to be restarted", details());
      process.kill(process.pid, "SIGKILL");
    }
  };

  port.on("message", (message: ToHealthThread) => {
    if (message.kind === "report") report = message;
    else if (message.kind === "reviewed") reviews.received(message);
    else metrics.received(message);
  });
  setInterval(look, INTERVAL_MS);
  if (data.endpoints === undefined) post({ kind: "listening", port: 0 });
  else void serve(data.endpoints);
}

// The main thread always passes this type.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
if (parentPort !== null) runThread(workerData as HealthThreadData, parentPort);
