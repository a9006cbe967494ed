import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { createDriverMetrics } from "./driver-metrics.ts";

function setUp() {
  const registry = new Registry();
  const metrics = createDriverMetrics(registry);
  const samples = () => metricLines(registry);
  return { metrics, samples, having: async (text: string) => (await samples()).filter((line) => line.includes(text)) };
}

describe("the metrics of drivers", () => {
  it("count requests to a cloud by service, and what failed by the code of the cloud", async () => {
    const { metrics, samples } = setUp();
    metrics.countApiCall("aws", { service: "instance_create", outcome: "ok", seconds: 0.2 });
    metrics.countApiCall("aws", { service: "instance_create", outcome: "RequestLimitExceeded", seconds: 3 });
    metrics.countApiCall("gcp", { service: "instance_list", outcome: "ok", seconds: 1 });
    expect(await samples()).toEqual(
      expect.arrayContaining([
        'mcm_cloud_api_requests_total{provider="aws",service="instance_create"} 2',
        'mcm_cloud_api_requests_total{provider="gcp",service="instance_list"} 1',
        'mcm_cloud_api_requests_failed_total{provider="aws",service="instance_create",error_code="RequestLimitExceeded"} 1',
        'mcm_cloud_api_api_request_duration_seconds_bucket{le="0.25",provider="aws",service="instance_create"} 1',
        'mcm_cloud_api_api_request_duration_seconds_sum{provider="aws",service="instance_create"} 3.2',
      ]),
    );
  });

  it("count calls of methods by MCM's names of operations and numbers of codes", async () => {
    const { metrics, samples, having } = setUp();
    metrics.countCall("aws", "getMachineStatus", "NotFound", 0.1);
    metrics.countCall("aws", "createMachine", "OK", 40);
    const failed = await having("driver_requests_failed_total");
    expect(failed.filter((line) => !line.endsWith(" 0"))).toEqual([
      'mcm_cloud_api_driver_requests_failed_total{provider="aws",operation="get_machine_status",error_code="5"} 1',
    ]);
    // There from the first call on: Prometheus sees no increase in a series that starts with 1.
    expect(failed).toContain(
      'mcm_cloud_api_driver_requests_failed_total{provider="aws",operation="create_machine",error_code="16"} 0',
    );
    expect(await samples()).toContain(
      'mcm_cloud_api_driver_request_duration_seconds_bucket{le="60",provider="aws",operation="create_machine"} 1',
    );
  });

  it("have a series of errors outside of calls for each driver, also before the first one", async () => {
    const registry = new Registry();
    createDriverMetrics(registry, () => new Map([["aws", 2]]), ["aws", "gcp"]);
    expect(await metricLines(registry, "millwright_driver_stray_errors_total")).toEqual([
      'millwright_driver_stray_errors_total{provider="aws"} 2',
      'millwright_driver_stray_errors_total{provider="gcp"} 0',
    ]);
  });

  it("stay bounded and whole whatever a driver reports", async () => {
    const { metrics, having } = setUp();
    for (let index = 0; index < 1_000; index++)
      metrics.countApiCall("wild", { service: `get_i-${index}`, outcome: `Error${index}`, seconds: 1 });
    const nonsense = { service: { toString: () => "x" }, outcome: "a b\nc", seconds: Number.NaN };
    metrics.countApiCall("wild", nonsense as never);
    metrics.countApiCall("wild", null as never);
    expect(await having("requests_total")).toHaveLength(101);
    expect(await having('requests_total{provider="wild",service="other"}')).toEqual([
      'mcm_cloud_api_requests_total{provider="wild",service="other"} 902',
    ]);
    expect(await having('duration_seconds_count{provider="wild",service="other"}')).toEqual([
      'mcm_cloud_api_api_request_duration_seconds_count{provider="wild",service="other"} 900',
    ]);
    expect((await having('error_code="other"')).length).toBe(1);
  });
});
