import { type Machine, machineResource } from "@millwright/core/machine-api";
import { nodeResource, podResource } from "@millwright/kube";
import { describe, expect, it, vi } from "vitest";
import type { Node } from "../model/node-objects.ts";
import { named } from "../testing/builders.ts";
import { nodeRef, ready, ref, setUp } from "../testing/machine-process.ts";

describe("the life of a machine", () => {
  it("is Running after two patches, a status write, the patch of its node and another status write", async () => {
    const { api, clock, driver, start, phase, create, join, machine, writes } = setUp();
    create();
    await start();
    await clock.advance(1_010);
    expect(phase()).toBe("Pending");
    expect(machine()).toMatchObject({
      metadata: { labels: { node: "node-of-machine" } },
      spec: { providerID: "vm-1" },
    });
    join();
    await clock.advance(10);
    expect(phase()).toBe("Running");
    expect(writes()).toEqual([
      "patch machines",
      "patch machines",
      "patch machines/status",
      "patch nodes",
      "patch machines/status",
    ]);
    expect(machine()?.status?.joinDuration).toMatch(/s$/);
    expect(driver.calls).toEqual(["ensureVm machine"]);
    expect(api.peek<Node>(nodeResource, nodeRef)?.metadata.labels).toEqual({
      "node.gardener.cloud/machine-name": "machine",
    });
  });

  it("is Running with its first status where its node joins within a second, and Pending if it does not", async () => {
    const { clock, driver, start, phase, create, join, machine, writes } = setUp();
    create();
    await start();
    await clock.advance(990);
    expect([phase(), machine()?.spec.providerID]).toEqual([undefined, "vm-1"]);
    join();
    await clock.advance(10);
    expect([phase(), machine()?.status?.lastOperation?.type]).toEqual(["Running", "Create"]);
    await clock.advance(60_000);
    expect(writes()).toEqual(["patch machines", "patch machines", "patch machines/status", "patch nodes"]);
    expect(driver.calls).toEqual(["ensureVm machine"]);
    expect(machine()?.status?.joinDuration).toMatch(/s$/);
  });

  it("is initialized according to the status that makes it Running", async () => {
    const { clock, start, create, join, machine } = setUp({ initializes: true });
    create();
    await start();
    await clock.advance(100);
    join();
    await clock.advance(10);
    expect(machine()?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Initialized", status: "True", reason: "Initialized" }),
    );
  });

  it("costs nothing once it runs: no write, no driver call, no reconcile", async () => {
    const { api, clock, driver, start, create, join, phase } = setUp();
    create();
    const process = await start();
    await clock.advance(10);
    join();
    await clock.advance(10);
    expect(phase()).toBe("Running");
    api.calls.length = 0;
    driver.calls.length = 0;
    const reconciles = process.reconciles();
    await clock.advance(3_600_000);
    // A heartbeat does not enqueue either.
    api.change(nodeResource, nodeRef, {
      status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:30:00Z" }] },
    });
    await clock.advance(3_600_000);
    expect(api.writes()).toEqual([]);
    expect(driver.calls).toEqual([]);
    // The one timer that is left is that of the join timeout, which finds nothing to do.
    expect(process.reconciles() - reconciles).toBeLessThanOrEqual(1);
  });

  it("follows its node down and up again", async () => {
    const { api, clock, start, create, join, phase } = setUp();
    create();
    await start();
    await clock.advance(1_000);
    join();
    await clock.advance(1_000);
    api.change(nodeResource, nodeRef, { status: ready("Unknown") });
    await clock.advance(1_000);
    expect(phase()).toBe("Unknown");
    api.change(nodeResource, nodeRef, { status: ready() });
    await clock.advance(1_000);
    expect(phase()).toBe("Running");
    api.remove(nodeResource, nodeRef);
    await clock.advance(1_000);
    expect(phase()).toBe("Unknown");
  });

  it("ends with drain, VM, node and machine, in that order", async () => {
    const { api, clock, driver, start, create, join, machine, writes } = setUp();
    create();
    await start();
    await clock.advance(10);
    join();
    api.seed(podResource, {
      metadata: { namespace: "default", name: "web" },
      spec: { nodeName: nodeRef.name },
    } as never);
    api.seed(podResource, { metadata: { namespace: "default", name: "far" }, spec: { nodeName: "other" } } as never);
    await clock.advance(10);
    api.calls.length = 0;
    await api.delete(machineResource, ref);
    await clock.advance(10_000);
    expect(machine()).toBeUndefined();
    expect(driver.vms.size).toBe(0);
    expect(api.all(nodeResource)).toEqual([]);
    expect(api.all(podResource).map(({ metadata }) => metadata.name)).toEqual(["far"]);
    const steps = writes().filter((write) => write !== "patch machines/status");
    expect(steps).toEqual([
      "delete machines",
      "patch nodes/status",
      "patch nodes",
      "create pods/eviction",
      "patch nodes",
      "delete nodes",
      "patch machines",
    ]);
    expect(driver.calls).toEqual(["ensureVm machine", "deleteVm machine"]);
  });

  it("is over at once when nothing was ever created", async () => {
    const { api, clock, driver, start, create, machine } = setUp();
    create({ spec: { class: { name: "unknown" } } });
    await start();
    await clock.advance(10);
    await api.delete(machineResource, ref);
    await clock.advance(10);
    expect(machine()).toBeUndefined();
    expect(driver.calls).toEqual([]);
  });

  it("ends in Available without a target cluster, and is deleted without node", async () => {
    const { api, clock, driver, start, create, machine, phase } = setUp({ hasTarget: false });
    create();
    await start();
    await clock.advance(10);
    expect(phase()).toBe("Available");
    expect(machine()?.metadata.labels).not.toHaveProperty("node");
    expect(machine()?.status?.addresses).toEqual([{ type: "Hostname", address: "node-of-machine" }]);
    await api.delete(machineResource, ref);
    await clock.advance(10);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });

  it("starts with the finalizer when it is not set", async () => {
    const { clock, start, create, machine, writes, phase } = setUp();
    create({ metadata: { finalizers: null } });
    await start();
    await clock.advance(1_010);
    expect(machine()?.metadata.finalizers).toEqual(["machine.sapcloud.io/machine-controller-manager"]);
    expect([phase(), writes()]).toEqual(["Pending", ["patch machines", "patch machines", "patch machines/status"]]);
  });
});

it("reconciles machines independently: a failure of one does not affect the others", async () => {
  const { api, clock, driver, start, create } = setUp();
  create(named("a"), { spec: { class: { name: "unknown" } } });
  create(named("b"));
  create(named("c"));
  await start();
  await clock.advance(1_010);
  const phases = api.all<Machine>(machineResource).map(({ status }) => status?.currentStatus?.phase);
  expect(phases).toEqual(["CrashLoopBackOff", "Pending", "Pending"]);
  expect(driver.vms.size).toBe(2);
});

it("aborts the call of a machine that vanishes under it", async () => {
  const { api, clock, driver, start, create } = setUp();
  const spy = vi.spyOn(driver, "ensureVm");
  create();
  const release = driver.hold();
  await start();
  await clock.advance(10);
  api.remove(machineResource, ref);
  await clock.advance(10);
  expect(spy.mock.calls[0]?.[1].aborted).toBe(true);
  release();
});

it("deletes a VM whose machine was deleted during its creation", async () => {
  const { api, clock, driver, start, create } = setUp();
  create();
  const end = Promise.withResolvers<void>();
  const ensureVm = driver.ensureVm.bind(driver);
  vi.spyOn(driver, "ensureVm").mockImplementation(async (call) => {
    await end.promise;
    return ensureVm(call, new AbortController().signal);
  });
  await start();
  await clock.advance(10);
  api.remove(machineResource, ref);
  await clock.advance(10);
  end.resolve();
  await clock.advance(10);
  expect([driver.calls, driver.vms.size]).toEqual([["ensureVm machine", "deleteVm machine"], 0]);
});
