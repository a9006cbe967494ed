import type { RequestObserver } from "@millwright/kube";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { measureRequests } from "./request-metrics.ts";

it("shows requests under the names of client-go, by verb and kind and never by name, until that ends", async () => {
  const registry = new Registry();
  const observers = new Set<RequestObserver>();
  const client = {
    host: "api:6443",
    load: () => ({ limit: 8, inFlight: 3, waiting: 2 }),
    observe(observer: RequestObserver) {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
  };
  const end = measureRequests(registry, [client, {}]);
  const patch = { method: "PATCH", verb: "PATCH", resource: "machines/status" } as const;
  for (const { answered, waited, retried } of observers) {
    waited(patch, 300);
    answered(patch, 429, 20);
    retried(patch, 429);
    answered(patch, undefined, 30_000);
  }
  const lines = await metricLines(registry);
  expect(lines.filter((line) => !line.includes("le="))).toEqual([
    'rest_client_requests_total{code="429",method="PATCH",host="api:6443"} 1',
    'rest_client_requests_total{code="<error>",method="PATCH",host="api:6443"} 1',
    'rest_client_request_duration_seconds_sum{verb="PATCH",host="api:6443",resource="machines/status"} 30.02',
    'rest_client_request_duration_seconds_count{verb="PATCH",host="api:6443",resource="machines/status"} 2',
    'rest_client_rate_limiter_duration_seconds_sum{verb="PATCH",host="api:6443"} 0.3',
    'rest_client_rate_limiter_duration_seconds_count{verb="PATCH",host="api:6443"} 1',
    'rest_client_request_retries_total{code="429",verb="PATCH",host="api:6443"} 1',
    'millwright_api_requests_in_flight{host="api:6443"} 3',
    'millwright_api_requests_waiting{host="api:6443"} 2',
    'millwright_api_request_limit{host="api:6443"} 8',
  ]);
  end();
  expect(observers.size).toBe(0);
});
