import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import {
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { describe, expect, it, vi } from "vitest";
import type { Node } from "../model/node-objects.ts";
import type { CrdGuard } from "../model/crd-guard.ts";
import { type Change, labeled, testNamespace } from "../testing/builders.ts";
import { aClaim, anAttachment, aPodWithVolume, aVolume } from "../testing/drain-objects.ts";
import { nodeRef, ref, setUp } from "../testing/machine-process.ts";

/** A guard that pauses every deletion while it is paused. */
function switchableGuard() {
  const crd = { name: "machines.machine.sapcloud.io", state: "deleted" } as const;
  const listeners: (() => void)[] = [];
  let isPaused = false;
  const guard: CrdGuard = {
    stateOf: () => crd,
    onChange: (listener) => void listeners.push(() => listener("Machine")),
    synced: async () => undefined,
    hasSynced: () => true,
    run: async () => undefined,
    deletionVerdictOf: () => (isPaused ? { verdict: "paused", crd } : { verdict: "proceed" }),
    refresh: async () => undefined,
    recordDeletion: () => undefined,
    forgetDeletion: () => undefined,
  };
  const pause = (paused: boolean): void => {
    isPaused = paused;
    for (const listener of listeners) listener();
  };
  return { guard, pause };
}

it("drains a node that has joined while the cache of nodes was behind", async () => {
  const { api, clock, driver, start, create, join, machine } = setUp();
  const { watch } = api;
  vi.spyOn(api, "watch").mockImplementation(async function* withoutNodes(type, options, signal) {
    for await (const event of watch(type, options, signal))
      if (type !== nodeResource || event.type === "BOOKMARK") yield event;
  });
  create();
  await start();
  await clock.advance(5_000);
  join();
  const finalizers = ["x/y"];
  const pod = { metadata: { namespace: "default", name: "web", finalizers }, spec: { nodeName: nodeRef.name } };
  api.seed(podResource, pod as never);
  await clock.advance(1_000);
  await api.delete(machineResource, ref);
  await clock.advance(60_000);
  expect(api.writes().filter(({ subresource }) => subresource === "eviction")).toHaveLength(1);
  expect([machine()?.status?.lastOperation?.description, driver.vms.size]).toEqual([
    expect.stringContaining("Pod default/web: deletionTimestamp set"),
    1,
  ]);
  api.remove(podResource, { namespace: "default", name: "web" });
  await clock.advance(60_000);
  expect(driver.vms.size).toBe(0);
});

it("reads a node that does not exist once, and deletes the VM", async () => {
  const { api, clock, driver, start, create, machine } = setUp();
  create();
  await start();
  await clock.advance(5_000);
  await api.delete(machineResource, ref);
  await clock.advance(1_000);
  const reads = api.calls.filter(({ verb, resource }) => verb === "get" && resource.startsWith("nodes"));
  expect(reads).toHaveLength(1);
  expect([driver.vms.size, machine()]).toEqual([0, undefined]);
});

describe("a drain", () => {
  const draining = (...changes: readonly Change<Machine>[]) => drainingWith({}, ...changes);
  async function drainingWith(options: Parameters<typeof setUp>[0], ...changes: readonly Change<Machine>[]) {
    const setup = setUp(options);
    setup.create(...changes);
    await setup.start();
    await setup.clock.advance(10);
    setup.join();
    setup.api.seed(podResource, {
      metadata: { namespace: "default", name: "web", finalizers: ["x/y"] },
      spec: { nodeName: nodeRef.name },
    } as never);
    setup.api.seed(volumeAttachmentResource, { metadata: { name: "va" }, spec: { nodeName: nodeRef.name } } as never);
    await setup.clock.advance(10);
    await setup.api.delete(machineResource, ref);
    return setup;
  }
  const evictions = ({ api }: ReturnType<typeof setUp>) =>
    api.writes().filter(({ subresource }) => subresource === "eviction").length;

  it("waits for a terminating pod as long as it takes, and is continued by the next controller", async () => {
    const setup = await draining();
    const { api, clock, driver, start, stopAll, machine } = setup;
    await clock.advance(60_000);
    expect(evictions(setup)).toBe(1);
    expect(machine()?.status?.lastOperation?.description).toBe(
      "Drain not completed yet (started at 2026-01-01T00:00:00Z):\n* Pod default/web: deletionTimestamp set, but still not removed from the Node: finalizers x/y. Initiate node drain",
    );
    await stopAll();
    await start();
    await clock.advance(60_000);
    expect([evictions(setup), driver.vms.size]).toEqual([1, 1]);
    api.remove(podResource, { namespace: "default", name: "web" });
    await clock.advance(10);
    // A graceful drain leaves attachments to their controller, which learns that the VM is deleted, and has a minute.
    expect(driver.vms.size).toBe(0);
    expect(api.peek<Node>(nodeResource, nodeRef)?.spec?.taints).toMatchObject([
      { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" },
    ]);
    await clock.advance(58_000);
    expect(machine()).toBeDefined();
    await clock.advance(2_000);
    expect([machine(), api.all(nodeResource)]).toEqual([undefined, []]);
    expect(api.all(volumeAttachmentResource)).toHaveLength(1);
  });

  it("continues when the last pod is deleted, also for a machine that lost the label of its node", async () => {
    const { api, clock, driver, machine } = await draining();
    await clock.advance(10_000);
    api.change(machineResource, ref, labeled({ node: null } as never));
    await clock.advance(10_000);
    expect(machine()?.status?.lastOperation?.description).toContain("Pod default/web: deletionTimestamp set");
    api.remove(podResource, { namespace: "default", name: "web" });
    await clock.advance(10);
    expect(driver.vms.size).toBe(0);
    api.remove(volumeAttachmentResource, { name: "va" });
    await clock.advance(10);
    expect(machine()).toBeUndefined();
  });

  it("is forced at its deadline and then removes attachments too", async () => {
    const { api, clock, driver, machine } = await draining({ spec: { drainTimeout: "1m" } });
    await clock.advance(59_000);
    expect(driver.vms.size).toBe(1);
    await clock.advance(2_000);
    expect([driver.vms.size, api.all(volumeAttachmentResource)]).toEqual([0, []]);
    // Its pod is not deleted although the VM is: the node waits for it at most a minute.
    expect(machine()).toBeDefined();
    await clock.advance(60_000);
    expect(machine()).toBeUndefined();
  });

  it("is not forced at the end of a pause that is longer than the drain timeout, and has the rest of its time", async () => {
    const { clock, driver, start, stopAll, machine } = await draining({ spec: { drainTimeout: "1h" } });
    await clock.advance(20 * 60_000);
    await stopAll();
    await clock.advance(3 * 3_600_000);
    await start();
    await clock.advance(20 * 60_000);
    expect([driver.vms.size, machine()?.metadata.annotations?.["machine.millwright.dev/drain-state"]]).toEqual([
      1,
      expect.stringContaining("countedMs"),
    ]);
    // Ten minutes of the pause count: the time between two records, twice.
    await clock.advance(9 * 60_000);
    expect(driver.vms.size).toBe(1);
    await clock.advance(2 * 60_000);
    expect(driver.vms.size).toBe(0);
  });

  it("is not forced when a paused deletion continues", async () => {
    const { guard, pause } = switchableGuard();
    const { clock, driver } = await drainingWith({ crdGuard: guard }, { spec: { drainTimeout: "1h" } });
    await clock.advance(20 * 60_000);
    pause(true);
    await clock.advance(3 * 3_600_000);
    pause(false);
    await clock.advance(29 * 60_000);
    expect(driver.vms.size).toBe(1);
    await clock.advance(2 * 60_000);
    expect(driver.vms.size).toBe(0);
  });

  it("is forced at once by the label, also when it is set later", async () => {
    const { api, clock, driver, machine } = await draining();
    await clock.advance(10_000);
    expect(machine()).toBeDefined();
    api.change(machineResource, ref, labeled({ "force-deletion": "True" }));
    await clock.advance(10);
    expect(driver.vms.size).toBe(0);
    api.remove(podResource, { namespace: "default", name: "web" });
    await clock.advance(10);
    expect(machine()).toBeUndefined();
  });
});

describe("a drain of pods with volumes", () => {
  async function setUpPods() {
    const setup = setUp();
    const { api, clock, create, join, start } = setup;
    for (const name of ["a", "b"]) {
      api.seed(persistentVolumeClaimResource, { ...aClaim(`data-${name}`, `pv-${name}`) });
      api.seed(persistentVolumeResource, { ...aVolume(`pv-${name}`) });
      api.seed(volumeAttachmentResource, { ...anAttachment(`pv-${name}`, nodeRef.name) });
      api.seed(podResource, {
        ...aPodWithVolume(name, { spec: { ...aPodWithVolume(name).spec, nodeName: nodeRef.name } }),
      });
    }
    const lookups = vi.spyOn(setup.driver, "volumeIds");
    create();
    await start();
    await clock.advance(10);
    join();
    await clock.advance(10);
    const evicted = () => api.writes().flatMap(({ subresource, key }) => (subresource === "eviction" ? [key] : []));
    return { ...setup, lookups, evicted };
  }

  it("calls the driver once, and evicts a pod when the volume of the previous one is in service elsewhere", async () => {
    const { api, clock, lookups, evicted, machine } = await setUpPods();
    await api.delete(machineResource, ref);
    await clock.advance(10);
    expect(lookups.mock.calls.map(([, specs]) => specs)).toEqual([[aVolume("pv-a").spec, aVolume("pv-b").spec]]);
    expect(evicted()).toEqual(["default/a"]);
    expect(machine()?.metadata.annotations?.["machine.millwright.dev/drain-state"]).toContain("pv-a");
    await clock.advance(60_000);
    expect(evicted()).toEqual(["default/a"]);
    // The replacement uses the volume: each step enqueues the machine.
    api.remove(volumeAttachmentResource, { name: `pv-a-on-${nodeRef.name}` });
    const successor = aPodWithVolume("a", {
      metadata: { uid: "uid-a-2" },
      spec: { ...aPodWithVolume("a").spec, nodeName: "other" },
    });
    api.seed(podResource, { ...successor });
    await clock.advance(10);
    expect(evicted()).toEqual(["default/a"]);
    api.seed(volumeAttachmentResource, { ...anAttachment("pv-a", "other") });
    await clock.advance(10);
    expect(evicted()).toEqual(["default/a", "default/b"]);
    api.remove(volumeAttachmentResource, { name: `pv-b-on-${nodeRef.name}` });
    await clock.advance(10_000);
    expect([machine(), lookups.mock.calls.length]).toEqual([undefined, 1]);
  });

  it("continues without the driver when that does not answer in time", async () => {
    const { api, clock, lookups, evicted } = await setUpPods();
    lookups.mockImplementation(() => new Promise(() => {}));
    await api.delete(machineResource, ref);
    await clock.advance(9_000);
    expect(evicted()).toEqual([]);
    await clock.advance(1_100);
    expect(evicted()).toEqual(["default/a"]);
  });

  it("needs no driver when the class does not exist", async () => {
    const { api, clock, lookups, evicted } = await setUpPods();
    api.remove(machineClassResource, { namespace: testNamespace, name: "small" });
    await clock.advance(10);
    await api.delete(machineResource, ref);
    await clock.advance(10);
    expect([lookups.mock.calls.length, evicted()]).toEqual([0, ["default/a"]]);
  });
});
