import { createControlCaches } from "@millwright/controllers";
import { systemRandom } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  type Machine,
  machineResource,
  markerOf,
} from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { createFakeApi } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { countFlow } from "./count-flow.ts";

const namespace = "shoot";
const labels = 'namespace="shoot",machine_deployment="pool",instance_type="m5.large",zone="eu-1a"';
const leavesAt = (marker: Parameters<typeof markerOf>[0]) => ({
  currentStatus: { phase: "Terminating" },
  lastOperation: { type: "Delete", state: "Processing", description: markerOf(marker) },
});

async function setUp() {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const nodeTemplate = { capacity: {}, instanceType: "m5.large", region: "eu-1", zone: "eu-1a" };
  api.seed(machineClassResource, { metadata: { name: "small", namespace }, providerSpec: {}, nodeTemplate });
  api.seed(machineDeploymentResource, { metadata: { name: "pool", namespace }, spec: { template: { spec: {} } } });
  const caches = createControlCaches({ api, namespace, clock, random: systemRandom });
  const stop = new AbortController();
  for (const cache of [caches.machines, caches.classes, caches.deployments]) {
    void cache.run(stop.signal).catch(() => undefined);
    await cache.synced(stop.signal);
  }
  const registry = new Registry();
  const end = countFlow(registry, caches, clock);
  const aMachine = (
    name: string,
    change: Partial<Machine["metadata"]> = { labels: { name: "pool" } },
    status: Machine["status"] = {},
  ) =>
    api.seed(machineResource, {
      metadata: { name, namespace, finalizers: ["test"], ...change },
      spec: {
        class: { kind: "MachineClass", name: "small" },
        nodeTemplate: { metadata: { labels: { "topology.kubernetes.io/zone": "eu-1a" } } },
      },
      status,
    });
  const change = (name: string, patch: object) => api.change(machineResource, { namespace, name }, patch);
  return { clock, api, stop, end, aMachine, change, lines: (name: string) => metricLines(registry, name) };
}

describe("the metrics of what happens to machines", () => {
  it("follow a machine from its creation to its end, with MCM's last durations and a histogram of all", async () => {
    const { clock, api, stop, aMachine, change, lines } = await setUp();
    aMachine("pool-1");
    await clock.advance(40_000);
    change("pool-1", { spec: { providerID: "aws:///i-1" } });
    await clock.advance(50_400);
    const joined = { type: "Create", state: "Successful" };
    change("pool-1", { status: { currentStatus: { phase: "Running" }, lastOperation: joined } });
    await clock.advance(1_000);
    await api.delete(machineResource, { namespace, name: "pool-1" });
    await clock.advance(2_000);
    change("pool-1", { status: leavesAt("Drain") });
    await clock.advance(30_000);
    change("pool-1", { status: leavesAt("DeleteVm") });
    await clock.advance(8_000);
    await api.patch(
      machineResource,
      { namespace, name: "pool-1" },
      { metadata: { finalizers: [] } },
      { kind: "merge" },
    );
    await clock.advance(1);

    expect(await lines("mcm_machine_create_duration_seconds")).toEqual([
      `mcm_machine_create_duration_seconds{${labels}} 40`,
    ]);
    expect(await lines("mcm_machine_join_duration_seconds")).toEqual([
      `mcm_machine_join_duration_seconds{${labels}} 90`,
    ]);
    expect(await lines("mcm_machine_drain_duration_seconds")).toEqual([
      'mcm_machine_drain_duration_seconds{namespace="shoot",machine_deployment="pool"} 30',
    ]);
    expect(await lines("mcm_machine_delete_duration_seconds")).toEqual([
      `mcm_machine_delete_duration_seconds{${labels}} 40`,
    ]);
    for (const step of ["create", "join", "drain", "delete"])
      expect(await lines("millwright_machine_step_duration_seconds_count")).toContain(
        `millwright_machine_step_duration_seconds_count{namespace="shoot",machine_deployment="pool",step="${step}"} 1`,
      );
    stop.abort();
  });

  it("count what never joined and what was deleted for its health", async () => {
    const { clock, api, stop, aMachine, change, lines } = await setUp();
    for (const [name, phase, type] of [
      ["never", "Pending", "Create"],
      ["sick", "Failed", "HealthCheck"],
    ] as const) {
      aMachine(name);
      change(name, { status: { currentStatus: { phase }, lastOperation: { type, state: "Processing" } } });
    }
    await clock.advance(1);
    expect(await lines("mcm_machine_stale_machines_total")).toEqual(["mcm_machine_stale_machines_total 0"]);
    change("never", { status: { currentStatus: { phase: "Failed" } } });
    await api.delete(machineResource, { namespace, name: "sick" });
    await clock.advance(1);
    expect(await lines("mcm_machine_num_failed_join")).toEqual([`mcm_machine_num_failed_join{${labels}} 1`]);
    expect(await lines("mcm_machine_stale_machines_total")).toEqual(["mcm_machine_stale_machines_total 1"]);
    stop.abort();
  });

  it("do not count a drain whose start was not seen", async () => {
    const { clock, stop, aMachine, change, lines } = await setUp();
    aMachine("pool-1", { labels: { name: "pool" } }, leavesAt("Drain"));
    await clock.advance(30_000);
    change("pool-1", { status: leavesAt("DeleteVm") });
    await clock.advance(1);
    expect(await lines("mcm_machine_drain_duration_seconds")).toEqual([]);
    stop.abort();
  });

  it("show texts of machines within bounds, on one line", async () => {
    const { clock, api, stop, aMachine, change, lines } = await setUp();
    const nodeTemplate = { capacity: {}, instanceType: '"} 1\n\0', region: "r", zone: "z" };
    api.change(machineClassResource, { namespace, name: "small" }, { nodeTemplate });
    aMachine("pool-1");
    const zone = "z".repeat(100_000);
    change("pool-1", { spec: { nodeTemplate: { metadata: { labels: { "topology.kubernetes.io/zone": zone } } } } });
    change("pool-1", { spec: { providerID: "aws:///i-1" } });
    await clock.advance(1);
    expect(await lines("mcm_machine_create_duration_seconds")).toEqual([
      `mcm_machine_create_duration_seconds{namespace="shoot",machine_deployment="pool",instance_type="\\"} 1\uFFFD\uFFFD",zone="${"z".repeat(512)}"} 0`,
    ]);
    stop.abort();
  });

  it("count nothing of a machine that cannot be read for a while", async () => {
    const { clock, stop, aMachine, change, lines } = await setUp();
    aMachine("pool-1");
    change("pool-1", { spec: { providerID: "aws:///i-1" } });
    await clock.advance(1_000);
    const joined = { type: "Create", state: "Successful" };
    change("pool-1", { status: { currentStatus: { phase: "Running" }, lastOperation: joined } });
    await clock.advance(1_000);
    const before = await lines("millwright_machine_step_duration_seconds_count");
    expect(before).toHaveLength(2);
    change("pool-1", { spec: { class: "small" }, status: { conditions: "none" } });
    await clock.advance(1_000);
    change("pool-1", { spec: { class: { name: "small" } }, status: { conditions: [] } });
    await clock.advance(1_000);
    expect(await lines("millwright_machine_step_duration_seconds_count")).toEqual(before);
    stop.abort();
  });

  it("leave out machines of no deployment, as MCM", async () => {
    const { clock, stop, aMachine, change, lines } = await setUp();
    aMachine("alone", {});
    await clock.advance(1_000);
    change("alone", { spec: { providerID: "aws:///i-1" } });
    await clock.advance(1);
    expect(await lines("mcm_machine_create_duration_seconds")).toEqual([]);
    stop.abort();
  });

  it("forget a deployment that is gone with its machines an hour after the last one was counted", async () => {
    const { clock, api, stop, aMachine, change, lines } = await setUp();
    aMachine("pool-1");
    await clock.advance(1_000);
    change("pool-1", { spec: { providerID: "aws:///i-1" } });
    await clock.advance(3_600_000);
    const all = async () => [
      ...(await lines("mcm_machine_create_duration_seconds")),
      ...(await lines("millwright_machine_step_duration_seconds_count")),
    ];
    expect(await all()).toHaveLength(2);
    await api.delete(machineDeploymentResource, { namespace, name: "pool" });
    await clock.advance(1);
    expect(await all()).toHaveLength(2);
    change("pool-1", { metadata: { finalizers: [] } });
    await api.delete(machineResource, { namespace, name: "pool-1" });
    await clock.advance(1);
    expect(await all()).toEqual([]);
    stop.abort();
  });

  it("count nothing any more when they are ended", async () => {
    const { clock, stop, end, aMachine, change, lines } = await setUp();
    aMachine("pool-1");
    await clock.advance(1_000);
    end();
    change("pool-1", { spec: { providerID: "aws:///i-1" } });
    await clock.advance(1);
    expect(await lines("mcm_machine_create_duration_seconds")).toEqual([]);
    stop.abort();
  });
});
