import { seededRandom } from "@millwright/base";
import { type Machine, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { ApiError, type Log, nodeResource, podResource } from "@millwright/kube";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { createManager } from "./manager.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { aCloud, aLeadership, aManager, aSet, aStop, namespace } from "../testing/managed.ts";

const HOUR = 3_600_000;
const unreachable = new ApiError({ status: 0, reason: "Unreachable", message: "no route to host" });
const requests: ReadonlySet<string | symbol> = new Set(["get", "list", "create", "patch", "replace", "delete"]);

/** A target cluster whose API server a test stops and starts. */
function aTarget(clock: ReturnType<typeof createVirtualClock>) {
  const nodes = createFakeApi({ clock });
  let isDown = false;
  async function* watch(...args: Parameters<FakeApi["watch"]>) {
    if (isDown) throw unreachable;
    yield* nodes.watch(...args);
  }
  // Clients take the methods over when they are made: each call asks whether the server is down.
  const api = new Proxy<FakeApi>(nodes, {
    get(of, key, receiver): unknown {
      const member: unknown = Reflect.get(of, key, receiver);
      if (key === "watch") return watch;
      if (typeof member !== "function" || !requests.has(key)) return member;
      return (...args: unknown[]): unknown => (isDown ? Promise.reject(unreachable) : Reflect.apply(member, of, args));
    },
  });
  return {
    api,
    nodes,
    stop() {
      isDown = true;
      nodes.endWatches();
    },
    start() {
      isDown = false;
    },
  };
}

const ready = { conditions: [{ type: "Ready", status: "True" }] };

/** A set of two machines that run, in two clusters, and what starts processes that manage them. */
async function twoClusters() {
  const clock = createVirtualClock();
  const target = aTarget(clock);
  const cloud = aCloud();
  const { api: control } = aManager(cloud.driver, {}, clock);
  const lines: string[] = [];
  const log: Log = (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const start = (change: Partial<ManagerOptions> = {}) => {
    const options = { control, target: target.api, namespace, drivers: [cloud.driver], clock, log };
    const stop = aStop();
    const running = createManager({ ...options, random: seededRandom(1), ...change }).start(stop.signal);
    return async () => {
      stop.abort(new Error("stopped"));
      await clock.advance(15_000);
      await running;
    };
  };
  const machines = () => control.all<Machine>(machineResource);
  const texts = () => machines().map(({ status }) => status?.lastOperation?.description);
  const named = (name: string) => machines().find(({ metadata }) => metadata.name === name);
  const join = () => {
    for (const { metadata, spec } of machines())
      if (target.nodes.peek(nodeResource, { name: metadata.name }) === undefined)
        target.nodes.seed(nodeResource, {
          metadata: { name: metadata.name },
          spec: { providerID: spec.providerID },
          status: ready,
        });
  };
  const scale = (replicas: number) =>
    control.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas } });
  control.seed(machineSetResource, aSet(2));
  const { leadership, give } = aLeadership();
  give();
  const end = start({ leadership });
  await clock.advance(5_000);
  join();
  await clock.advance(5_000);
  const phases = () =>
    machines()
      .map(({ status }) => status?.currentStatus?.phase ?? "")
      .toSorted((a, b) => a.localeCompare(b));
  expect(phases()).toEqual(["Running", "Running"]);
  return { clock, target, control, cloud, lines, start, end, machines, texts, named, join, scale, phases };
}

describe("a process that starts while the API server of a target cluster of its own is unreachable", () => {
  it("creates machines and VMs, concludes nothing from missing nodes, and reports what waits", async () => {
    const { clock, target, cloud, lines, start, end, texts, join, scale, phases } = await twoClusters();
    await end();
    target.stop();
    const endSecond = start();
    scale(3);
    await clock.advance(29_000);
    expect(cloud.vms.size).toBe(2);
    await clock.advance(10_000);
    expect([cloud.vms.size, phases()]).toEqual([3, ["Pending", "Running", "Running"]]);
    expect(texts()).toContainEqual(expect.stringContaining("Cannot determine whether the node"));
    const kinds = '"kinds":["nodes","pods","budgets","claims","volumes","attachments"]';
    expect(lines).toContainEqual(
      `warn What needs Nodes waits for the first list of some kinds {"controller":"machine",${kinds}}`,
    );
    await clock.advance(3 * HOUR);
    expect([cloud.vms.size, phases()]).toEqual([3, ["Pending", "Running", "Running"]]);
    target.start();
    await clock.advance(60_000);
    join();
    await clock.advance(5_000);
    expect([cloud.vms.size, phases()]).toEqual([3, ["Running", "Running", "Running"]]);
    await endSecond();
  });

  it("keeps the VM of a machine that is deleted, beyond the drain timeout and when a user forces it, and drains its node once it is known", async () => {
    const { clock, target, cloud, control, start, end, machines, named, phases } = await twoClusters();
    await end();
    target.stop();
    const [first = "", second = ""] = machines().map(({ metadata }) => metadata.name);
    const pod = {
      metadata: { namespace: "shop", name: "web" },
      spec: { nodeName: first },
      status: { phase: "Running" },
    };
    target.nodes.seed(podResource, pod);
    const endSecond = start();
    await control.delete(machineResource, { namespace, name: first });
    control.change(
      machineResource,
      { namespace, name: second },
      { metadata: { labels: { "force-deletion": "True" } } },
    );
    await control.delete(machineResource, { namespace, name: second });
    await clock.advance(5 * HOUR);
    for (const name of [first, second]) {
      expect(named(name)?.status?.currentStatus?.phase).toBe("Terminating");
      expect(named(name)?.status?.lastOperation?.description).toContain("Nodes and pods are not listed yet");
    }
    // With those of the two replacements.
    expect([cloud.vms.size, phases().length]).toEqual([4, 4]);
    target.start();
    await clock.advance(60_000);
    const evicted = target.nodes.calls.filter(({ subresource }) => subresource === "eviction").map(({ key }) => key);
    expect(evicted).toEqual(["shop/web"]);
    expect([cloud.vms.size, named(first), named(second)]).toEqual([2, undefined, undefined]);
    await endSecond();
  });

  it("neither fails nor replaces unhealthy machines, and follows their nodes once these are known", async () => {
    const { clock, target, cloud, control, start, end, machines, texts, phases } = await twoClusters();
    await end();
    target.stop();
    const names = machines().map(({ metadata }) => metadata.name);
    for (const [index, phase] of ["Unknown", "Failed"].entries())
      control.change(
        machineResource,
        { namespace, name: names[index] ?? "" },
        { status: { currentStatus: { phase, lastUpdateTime: "2020-01-01T00:00:00Z" } } },
      );
    const endSecond = start();
    await clock.advance(3 * HOUR);
    expect([phases(), cloud.vms.size]).toEqual([["Failed", "Unknown"], 2]);
    expect(texts()).toContainEqual(expect.stringContaining("Remediation paused"));
    expect(machines().map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined, undefined]);
    target.start();
    await clock.advance(60_000);
    // The Failed one is replaced.
    expect(phases()).toEqual(["Pending", "Running"]);
    await endSecond();
  });
});

describe("a standby that takes the lead while the API server of a target cluster of its own is unreachable", () => {
  it("acts by what it knows of the nodes, as the leader before it did", async () => {
    const { clock, target, cloud, lines, start, end, scale, phases, join } = await twoClusters();
    const { leadership, give } = aLeadership();
    const endSecond = start({ leadership });
    await clock.advance(1_000);
    target.stop();
    await clock.advance(60_000);
    await end();
    scale(3);
    give();
    await clock.advance(5_000);
    expect([cloud.vms.size, phases()]).toEqual([3, ["Pending", "Running", "Running"]]);
    expect(lines.some((line) => line.startsWith("warn Leading without a new list of some kinds"))).toBe(true);
    scale(2);
    await clock.advance(3 * HOUR);
    // The VM of a machine whose node is not known to exist was deleted after the drain timeout, as by a running leader.
    expect(phases().filter((phase) => phase === "Running")).toEqual(["Running", "Running"]);
    target.start();
    await clock.advance(60_000);
    join();
    await clock.advance(60_000);
    expect([cloud.vms.size, phases()]).toEqual([2, ["Running", "Running"]]);
    await endSecond();
  });
});
