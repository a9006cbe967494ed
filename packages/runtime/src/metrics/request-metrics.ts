import { requestMetricNames as names } from "@millwright/core/machine-api";
import type { ApiClient } from "@millwright/kube";
import type { Registry } from "prom-client";
import { registerIn } from "./register.ts";

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
  const { gauge, counter, histogram } = registerIn(registry);
  const requests = counter(names.requests, "Requests to API servers, each attempt.", ["code", "method", "host"]);
  const seconds = histogram(
    names.seconds,
    "How long API servers took until the headers of a response, in seconds.",
    ["verb", "host", "resource"],
    buckets,
  );
  const throttledHelp = "How long requests waited because the client limits them, in seconds.";
  const throttled = histogram(names.throttledSeconds, throttledHelp, ["verb", "host"], buckets);
  const retries = counter(names.retries, "Attempts of requests that were repeated.", ["code", "verb", "host"]);
  const loadOf = (field: "inFlight" | "waiting" | "limit") => () =>
    clients.flatMap(({ load, host = "" }) => (load === undefined ? [] : [[{ host }, load()[field]] as const]));
  gauge(names.inFlight, "Requests in flight, without watches.", ["host"], loadOf("inFlight"));
  gauge(names.waiting, "Requests that wait for others to end.", ["host"], loadOf("waiting"));
  gauge(names.limit, "How many requests may be in flight.", ["host"], loadOf("limit"));
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
