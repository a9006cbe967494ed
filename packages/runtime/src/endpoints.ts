import { Worker } from "node:worker_threads";
import { type Clock, ConfigError, type Timer } from "@millwright/base";
import { type Log, messageOf, threadFlags } from "@millwright/kube";
import type { Rejection } from "@millwright/kube/endpoints";
import type { MetricParts } from "./metrics/metric-parts.ts";
import { LAST_CALL_BYTES, writeLastCall } from "./watchdog/last-call.ts";
import type { FromHealthThread, HealthReport, HealthThreadData, ToHealthThread } from "./watchdog/health-messages.ts";

/** Where the endpoints are served, and what they show. */
export interface EndpointOptions {
  /** An IP address of this machine; `::` is all of them, `0.0.0.0` those of IPv4. */
  readonly address: string;
  /** 0 takes a free one; absent: nothing is served, and the thread only watches the event loop. */
  readonly port?: number | undefined;
  /** Reviews the bearer token that `/metrics` then needs; `undefined`: it may be used. Absent: everyone may read the metrics. */
  readonly reviewToken?: ((token: string) => Promise<Rejection | undefined>) | undefined;
  /** The process is killed when its event loop was blocked for so long, and 10 s more in which leases are released; milliseconds. 0: never. */
  readonly stallMs: number;
  /** The metrics, in Prometheus' text format. Reads at the same time are one. */
  metrics(): MetricParts;
  readonly clock: Clock;
  readonly log: Log;
}

/** Endpoints that are being served. */
export interface Endpoints {
  readonly port: number;
  /** What `/readyz` shows from now on; it is not ready before. */
  report(report: HealthReport): void;
  /** A call of a driver begins. If it blocks the event loop, the log names it. */
  callBegins(what: string): void;
  close(): Promise<void>;
}

const encoder = new TextEncoder();

/** Interval of the heartbeat of the main thread, milliseconds. */
const BEAT_MS = 500;

/**
 * Serves `/healthz`, `/readyz` and `/metrics` over plain HTTP, without authentication unless tokens are reviewed, as both of MCM's programs do, so that its probes and scrape configurations work
 * (MCM, `pkg/util/provider/app/app.go`, `startHTTP`). A process is healthy while it serves, whether it leads or not: a probe must not restart a standby. They are served by a thread that watches the event
 * loop of this one: it responds while the loop is blocked, and kills a process whose loop stays blocked.
 *
 * @throws ConfigError when the port cannot be used
 */
export function serveEndpoints(options: EndpointOptions): Promise<Endpoints> {
  const { address, port, stallMs, clock, log } = options;
  const memory = new SharedArrayBuffer(8);
  const beats = new BigInt64Array(memory);
  const lastCall = new SharedArrayBuffer(LAST_CALL_BYTES);
  let timer: Timer | undefined;
  const beat = (): void => {
    Atomics.add(beats, 0, 1n);
    timer = clock.setTimer(BEAT_MS, beat);
  };
  const worker = startThread({
    memory,
    lastCall,
    stallMs,
    endpoints: port === undefined ? undefined : { address, port, needsToken: options.reviewToken !== undefined },
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  const post = (message: ToHealthThread): void => worker.postMessage(message);
  const sendMetrics = async (id: number): Promise<void> => {
    try {
      for await (const part of options.metrics()) {
        const bytes = encoder.encode(part);
        // Passed on without a copy: of many megabytes, each copy would block the event loop.
        worker.postMessage({ kind: "metrics part", id, bytes } satisfies ToHealthThread, [bytes.buffer]);
      }
      post({ kind: "metrics end", id, isComplete: true });
    } catch (error) {
      log("error", "The metrics cannot be read", { error });
      post({ kind: "metrics end", id, isComplete: false });
    }
  };
  const sendReview = async (id: number, token: string): Promise<void> => {
    const result = await options.reviewToken?.(token).catch((error: unknown) => {
      log("warn", "A token for the metrics cannot be reviewed", { error: messageOf(error) });
      return "failed" as const;
    });
    post({ kind: "reviewed", id, result });
  };
  return new Promise((resolve, reject) => {
    const close = async (): Promise<void> => {
      timer?.cancel();
      await worker.terminate();
    };
    const fail = (error: Error): void => {
      log("error", "The health thread failed", { error: messageOf(error) });
      void close();
      reject(error);
    };
    worker.on("error", fail);
    worker.on("message", (message: FromHealthThread) => {
      if (message.kind === "metrics") return void sendMetrics(message.id);
      if (message.kind === "review") return void sendReview(message.id, message.token);
      if (message.kind === "failed") {
        void close();
        return reject(listenError(message, options));
      }
      // Nothing is left to do for a process of which only this thread remains.
      worker.unref();
      beat();
      resolve({
        port: message.port,
        report: (report) => post({ kind: "report", ...report }),
        callBegins: (what) => writeLastCall(lastCall, what),
        close,
      });
    });
  });
}

/** Starts the thread from the sources or from the build, wherever this file is. */
function startThread(data: HealthThreadData): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  const source = new URL("./watchdog/health-thread.ts", import.meta.url);
  const file = isSource ? source : new URL("./watchdog/health-thread.js", import.meta.url);
  return new Worker(file, { workerData: data, execArgv: threadFlags(isSource) });
}

function listenError(
  { code, message }: { readonly code: string; readonly message: string },
  { address, port }: EndpointOptions,
): Error {
  if (code === "EADDRINUSE") return new ConfigError(`--port: ${port} of ${address} is in use; choose another port`);
  if (code === "EACCES") return new ConfigError(`--port: this user may not listen on ${port}; choose a port from 1024`);
  if (code === "EADDRNOTAVAIL") return new ConfigError(`--address: ${address} is not an address of this machine`);
  return new Error(message);
}
