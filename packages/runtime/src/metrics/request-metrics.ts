import { requestMetricNames as names } from "@millwright/core/machine-api";
import type { ApiClient } from "@millwright/kube";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Those of client-go, seconds. */
const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** A client whose requests are measured. Fakes have none of it, and no series. */
export type MeasuredClient = Pick<ApiClient, "observe" | "load" | "host">;

/** client-go's text where there is no response. */
const codeOf = (status: number | undefined): string => (status === undefined ? "<error>" : String(status));

/**
 * Adds the metrics of requests to API servers.
 *
 * @param clients one client per server; another one of the same host counts together with it
 * @returns ends it: clients live longer than what uses them
 */
export function measureRequests(registry: Registry, clients: readonly MeasuredClient[]): () => void {
  const registers = [registry];
  const requests = new Counter({
    name: names.requests,
    help: "Requests to API servers, each attempt.",
    labelNames: ["code", "method", "host"],
    registers,
  });
  const seconds = new Histogram({
    name: names.seconds,
    help: "How long API servers took until the headers of a response, in seconds.",
    labelNames: ["verb", "host", "resource"],
    buckets,
    registers,
  });
  const throttled = new Histogram({
    name: names.throttledSeconds,
    help: "How long requests waited because the client limits them, in seconds.",
    labelNames: ["verb", "host"],
    buckets,
    registers,
  });
  const retries = new Counter({
    name: names.retries,
    help: "Attempts of requests that were repeated.",
    labelNames: ["code", "verb", "host"],
    registers,
  });
  measureLoad(registry, clients);
  const ends = clients.map(({ observe, host = "" }) =>
    observe?.({
      waited: ({ verb }, ms) => throttled.observe({ verb, host }, ms / 1_000),
      answered({ method, verb, resource }, status, ms) {
        requests.inc({ code: codeOf(status), method, host });
        seconds.observe({ verb, host, resource }, ms / 1_000);
      },
      retried: ({ verb }, status) => retries.inc({ code: codeOf(status), verb, host }),
    }),
  );
  return () => {
    for (const end of ends) end?.();
  };
}

type Load = ReturnType<NonNullable<ApiClient["load"]>>;

function measureLoad(registry: Registry, clients: readonly MeasuredClient[]): void {
  const gauge = (name: string, help: string, valueOf: (load: Load) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ["host"],
      registers: [registry],
      collect() {
        this.reset();
        for (const { load, host = "" } of clients) if (load !== undefined) this.inc({ host }, valueOf(load()));
      },
    });
  gauge(names.inFlight, "Requests in flight, without watches.", ({ inFlight }) => inFlight);
  gauge(names.waiting, "Requests that wait for others to end.", ({ waiting }) => waiting);
  gauge(names.limit, "How many requests may be in flight.", ({ limit }) => limit);
}
