import { type Machine, machineClassResource, type MachineClass, machineResource } from "@millwright/core";
import {
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podResource,
  secretResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { type FakeApi, type FakeCall, serverError } from "@millwright/kube/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Node } from "../cluster/node-objects.ts";
import { aMachine, aMachineClass, aNode, type Change, labelled, named, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { aClaim, anAttachment, aPodWithVolume, aVolume } from "../testing/drain-objects.ts";
import { createFakeDriver } from "../testing/fake-driver.ts";
import { createMachineController } from "./controller.ts";
import { defaultMachineSettings } from "./snapshot.ts";

const ref = { namespace: testNamespace, name: "machine" };
const secretRef = { namespace: testNamespace, name: "small" };
const aSecret = (data: Readonly<Record<string, string>>) => ({
  metadata: secretRef,
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
});
const nodeRef = { name: "node-of-machine" };
const ready = (status = "True") => ({ conditions: [{ type: "Ready", status }] });

/** A process with the real controller of machines. */
interface Process {
  readonly passes: () => number;
  readonly stop: () => Promise<void>;
}

const processes: Process[] = [];
afterEach(async () => {
  await Promise.all(processes.splice(0).map((process) => process.stop()));
});

function setUp(options: { readonly hasTarget?: boolean } = {}) {
  const { api, clock, newContext, run } = createTestCluster();
  const driver = createFakeDriver();
  api.seed(machineClassResource, aMachineClass());
  api.seed(secretResource, aSecret({ userData: "#cloud-config" }));

  const start = async (): Promise<Process> => {
    const stop = new AbortController();
    const { target, ...rest } = newContext();
    const context = options.hasTarget === false ? rest : { ...rest, target };
    const { controller, operations } = createMachineController(context, {
      driver,
      settings: defaultMachineSettings,
      workers: 2,
    });
    await run(context, stop.signal);
    const running = controller.start(stop.signal);
    const process = {
      passes: () => controller.counts().passes,
      stop: async () => {
        stop.abort(new Error("stopped"));
        await operations.close();
        await running;
      },
    };
    processes.push(process);
    return process;
  };
  const machine = (): Machine | undefined => api.peek<Machine>(machineResource, ref);
  const phase = (): string | undefined => machine()?.status?.currentStatus?.phase;
  const create = (...changes: readonly Change<Machine>[]) => api.seed(machineResource, aMachine(...changes));
  const join = (status = "True") =>
    api.seed(nodeResource, aNode({ metadata: nodeRef, spec: { providerID: "vm-1" }, status: ready(status) }));
  /** What was written, without events. */
  const writes = (): readonly string[] =>
    api
      .writes()
      .map(
        ({ verb, resource, subresource }: FakeCall) =>
          `${verb} ${resource.split(".")[0]}${subresource === undefined ? "" : `/${subresource}`}`,
      );
  return { api, clock, driver, start, machine, phase, create, join, writes };
}

describe("the life of a machine", () => {
  it("goes from nothing to Running with two patches and two status writes, and then patches the node", async () => {
    const { api, clock, driver, start, phase, create, join, machine, writes } = setUp();
    create();
    await start();
    await clock.advance(10);
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
      "patch machines/status",
      // Running by now, at four writes.
      "patch nodes",
    ]);
    expect(machine()?.status?.joinDuration).toMatch(/s$/);
    expect(driver.calls).toEqual(["ensureVm machine"]);
    expect(api.peek<Node>(nodeResource, nodeRef)?.metadata.labels).toEqual({
      "node.gardener.cloud/machine-name": "machine",
    });
  });

  it("costs nothing once it runs: no write, no driver call, no pass", async () => {
    const { api, clock, driver, start, create, join, phase } = setUp();
    create();
    const process = await start();
    await clock.advance(10);
    join();
    await clock.advance(10);
    expect(phase()).toBe("Running");
    api.calls.length = 0;
    driver.calls.length = 0;
    const passes = process.passes();
    await clock.advance(3_600_000);
    // A heartbeat is no news either.
    api.change(nodeResource, nodeRef, {
      status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:30:00Z" }] },
    });
    await clock.advance(3_600_000);
    expect(api.writes()).toEqual([]);
    expect(driver.calls).toEqual([]);
    // The one timer that is left is that of the join timeout, which finds nothing to do.
    expect(process.passes() - passes).toBeLessThanOrEqual(1);
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

  it("is over at once when nothing was ever made", async () => {
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

  it("starts with the finalizer when nobody has set it", async () => {
    const { clock, start, create, machine, writes, phase } = setUp();
    create({ metadata: { finalizers: null } });
    await start();
    await clock.advance(10);
    expect(machine()?.metadata.finalizers).toEqual(["machine.sapcloud.io/machine-controller-manager"]);
    expect([phase(), writes()]).toEqual(["Pending", ["patch machines", "patch machines", "patch machines/status"]]);
  });
});

/** Lets every patch that stores the id of a VM fail until the returned function is called. */
function loseIds(api: FakeApi): () => void {
  const patch = api.patch.bind(api);
  const spy = vi
    .spyOn(api, "patch")
    .mockImplementation((type, ref, body, options) =>
      JSON.stringify(body).includes("providerID") ? Promise.reject(serverError()) : patch(type, ref, body, options),
    );
  return () => spy.mockRestore();
}

describe("one VM per machine", () => {
  it("is found again by the next controller when the first died between VM and id", async () => {
    const { api, clock, driver, start, create, machine, phase } = setUp();
    create();
    const heal = loseIds(api);
    const first = await start();
    await clock.advance(10);
    expect(driver.vms.size).toBe(1);
    await first.stop();
    expect(machine()?.spec).not.toHaveProperty("providerID");

    heal();
    await start();
    await clock.advance(10);
    expect(driver.calls).toEqual(["ensureVm machine", "ensureVm machine"]);
    expect([...driver.vms]).toEqual([["uid-machine", "vm-1"]]);
    expect([machine()?.spec.providerID, phase()]).toEqual(["vm-1", "Pending"]);
  });

  it("keeps the outcome of a call until it is written, without a second call", async () => {
    const { api, clock, driver, start, create, phase } = setUp();
    create();
    api.inject({ verb: "patch", type: machineResource, error: serverError(), times: 3 });
    await start();
    await clock.advance(60_000);
    expect([phase(), driver.calls]).toEqual(["Pending", ["ensureVm machine"]]);
  });

  it("is recorded and deleted when the machine goes while the VM is being made", async () => {
    const { api, clock, driver, start, create, machine } = setUp();
    create();
    const release = driver.hold();
    await start();
    await clock.advance(10);
    await api.delete(machineResource, ref);
    await clock.advance(1_000);
    expect(driver.calls).toEqual(["ensureVm machine"]);
    release();
    await clock.advance(1_000);
    expect(driver.calls).toEqual(["ensureVm machine", "deleteVm machine"]);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });

  it("is adopted when its answer was lost", async () => {
    const { clock, driver, start, create, phase } = setUp();
    create();
    driver.fail("ensureVm", "DeadlineExceeded", 1, "after");
    await start();
    await clock.advance(10);
    expect(phase()).toBe("CrashLoopBackOff");
    await clock.advance(5_000);
    expect([phase(), driver.vms.size]).toEqual(["Pending", 1]);
  });
});

describe("failure", () => {
  it("is tried again in its time, not before, until the machine is Failed for good", async () => {
    const { clock, driver, start, create, phase } = setUp();
    create({ metadata: { creationTimestamp: "2026-01-01T00:00:00Z" } });
    driver.fail("ensureVm", "Internal", 1_000);
    await start();
    await clock.advance(7_900);
    expect([phase(), driver.calls.length]).toEqual(["CrashLoopBackOff", 1]);
    await clock.advance(2_200);
    expect([phase(), driver.calls.length]).toEqual(["CrashLoopBackOff", 2]);
    // 10, 20, 40, 80, 160 s, then every 3 min, less up to a fifth.
    await clock.advance(23 * 60_000);
    const calls = driver.calls.length;
    expect([phase(), calls > 8 && calls < 15]).toEqual(["Failed", true]);
    await clock.advance(24 * 3_600_000);
    expect([phase(), driver.calls.length]).toEqual(["Failed", calls]);
  });

  it("of a node to join makes the machine Failed after the creation timeout", async () => {
    const { clock, start, create, phase } = setUp();
    create();
    await start();
    await clock.advance(20 * 60_000);
    expect(phase()).toBe("Pending");
    await clock.advance(2);
    expect(phase()).toBe("Failed");
  });

  it("of a deletion keeps the machine until the VM is gone", async () => {
    const { api, clock, driver, start, create, machine } = setUp();
    create();
    await start();
    await clock.advance(10);
    driver.fail("deleteVm", "Unavailable", 2);
    driver.fail("deleteVm", "PermissionDenied", 1);
    await api.delete(machineResource, ref);
    await clock.advance(5_000);
    expect(machine()?.status?.lastOperation).toMatchObject({ state: "Failed", type: "Delete" });
    expect(driver.calls.filter((call) => call.startsWith("deleteVm"))).toHaveLength(3);
    await clock.advance(600_000);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });
});

describe("what cannot work", () => {
  type Setup = ReturnType<typeof setUp>;
  const breakClass = ({ api }: Setup) => api.change(machineClassResource, secretRef, { provider: null });
  it.each<[string, (setup: Setup) => unknown, (setup: Setup) => unknown, string]>([
    [
      "a missing class",
      ({ api }) => api.remove(machineClassResource, secretRef),
      ({ api }) => api.seed(machineClassResource, aMachineClass()),
      'MachineClass "small" does not exist',
    ],
    [
      "an invalid class",
      breakClass,
      ({ api }) => api.change<MachineClass>(machineClassResource, secretRef, { provider: "mock" }),
      'MachineClass "small": provider:',
    ],
    [
      "a class of another driver",
      ({ api }) => api.change(machineClassResource, secretRef, { provider: "aws" }),
      ({ api }) => api.change(machineClassResource, secretRef, { provider: "mock" }),
      'MachineClass "small": provider: no driver "aws" is loaded',
    ],
    [
      "a missing secret",
      ({ api }) => api.remove(secretResource, secretRef),
      ({ api }) => api.seed(secretResource, aSecret({ userData: "x" })),
      'Secret "small" does not exist',
    ],
    [
      "missing user data",
      ({ api }) => api.change(secretResource, secretRef, { data: { userData: null } }),
      ({ api }) => api.change(secretResource, secretRef, { data: aSecret({ userData: "x" }).data }),
      'key "userData" is missing in Secret "small"',
    ],
  ])(
    "because of %s is said in one line and one write, costs no pass, and goes on when mended",
    async (_, harm, mend, text) => {
      const setup = setUp();
      const { api, clock, driver, start, create, machine, phase } = setup;
      harm(setup);
      create();
      const process = await start();
      await clock.advance(10);
      expect(phase()).toBe("CrashLoopBackOff");
      expect(machine()?.status?.lastOperation?.description).toContain(text);
      expect(machine()?.status?.lastOperation?.description).not.toContain("\n");
      const passes = process.passes();
      await clock.advance(600_000);
      expect([api.writes().length, driver.calls, process.passes() - passes]).toEqual([1, [], 0]);
      mend(setup);
      await clock.advance(10);
      expect(phase()).toBe("Pending");
    },
  );

  it("because of one class wakes no machine of another", async () => {
    const { api, clock, start, create } = setUp();
    create();
    const process = await start();
    await clock.advance(2_000);
    const passes = process.passes();
    api.seed(machineClassResource, aMachineClass(named("large")));
    api.seed(secretResource, { metadata: { namespace: testNamespace, name: "unrelated" } });
    await clock.advance(2_000);
    expect(process.passes()).toBe(passes);
    api.change(secretResource, secretRef, { data: { more: "eA==" } });
    await clock.advance(2_000);
    expect(process.passes()).toBeGreaterThan(passes);
  });

  it("because the driver refuses is tried again as soon as the class changes", async () => {
    const { api, clock, driver, start, create, phase } = setUp();
    driver.fail("ensureVm", "InvalidArgument", 1);
    create();
    await start();
    await clock.advance(10);
    expect(phase()).toBe("CrashLoopBackOff");
    api.change(machineClassResource, secretRef, { providerSpec: { size: 2 } });
    await clock.advance(10);
    expect([phase(), driver.calls.length]).toEqual(["Pending", 2]);
  });

  it("because the node refuses its template does not keep the machine from Running", async () => {
    const { api, clock, start, create, join, phase } = setUp();
    api.inject({ verb: "patch", type: nodeResource, error: serverError(), times: 1_000 });
    create();
    await start();
    await clock.advance(10);
    join();
    await clock.advance(10);
    expect(phase()).toBe("Running");
  });
});

describe("a drain", () => {
  async function draining(...changes: readonly Change<Machine>[]) {
    const setup = setUp();
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
    const { api, clock, driver, start, machine } = setup;
    await clock.advance(60_000);
    expect(evictions(setup)).toBe(1);
    expect(machine()?.status?.lastOperation?.description).toBe(
      "Drain not completed yet (started at 2026-01-01T00:00:00Z):\n* Pod default/web: deletionTimestamp set, but still not removed from the Node: finalizers x/y. Initiate node drain",
    );
    await Promise.all(processes.splice(0).map((process) => process.stop()));
    await start();
    await clock.advance(60_000);
    expect([evictions(setup), driver.vms.size]).toEqual([1, 1]);
    api.remove(podResource, { namespace: "default", name: "web" });
    await clock.advance(10);
    // A graceful drain leaves attachments to their controller, which is told that the VM is gone, and has a minute.
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

  it("goes on when the last pod leaves, also for a machine that lost the label of its node", async () => {
    const { api, clock, driver, machine } = await draining();
    await clock.advance(10_000);
    api.change(machineResource, ref, labelled({ node: null } as never));
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
    // Its pod does not go although the VM is gone: the node waits for it no longer than a minute.
    expect(machine()).toBeDefined();
    await clock.advance(60_000);
    expect(machine()).toBeUndefined();
  });

  it("is forced at once by the label, also when that comes later", async () => {
    const { api, clock, driver, machine } = await draining();
    await clock.advance(10_000);
    expect(machine()).toBeDefined();
    api.change(machineResource, ref, labelled({ "force-deletion": "True" }));
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
    const asked = vi.spyOn(setup.driver, "volumeIds");
    create();
    await start();
    await clock.advance(10);
    join();
    await clock.advance(10);
    const evicted = () => api.writes().flatMap(({ subresource, key }) => (subresource === "eviction" ? [key] : []));
    return { ...setup, asked, evicted };
  }

  it("asks the driver once, and lets one pod go when the volume of the other serves elsewhere", async () => {
    const { api, clock, asked, evicted, machine } = await setUpPods();
    await api.delete(machineResource, ref);
    await clock.advance(10);
    expect(asked.mock.calls.map(([, specs]) => specs)).toEqual([[aVolume("pv-a").spec, aVolume("pv-b").spec]]);
    expect(evicted()).toEqual(["default/a"]);
    expect(machine()?.metadata.annotations?.["machine.millwright.dev/drain"]).toContain("pv-a");
    await clock.advance(60_000);
    expect(evicted()).toEqual(["default/a"]);
    // The successor takes the volume over: each step wakes the drain by itself.
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
    expect([machine(), asked.mock.calls.length]).toEqual([undefined, 1]);
  });

  it("goes on without the driver when that does not answer in time", async () => {
    const { api, clock, asked, evicted } = await setUpPods();
    asked.mockImplementation(() => new Promise(() => {}));
    await api.delete(machineResource, ref);
    await clock.advance(9_000);
    expect(evicted()).toEqual([]);
    await clock.advance(1_100);
    expect(evicted()).toEqual(["default/a"]);
  });

  it("needs no driver whose class is gone", async () => {
    const { api, clock, asked, evicted } = await setUpPods();
    api.remove(machineClassResource, { namespace: testNamespace, name: "small" });
    await clock.advance(10);
    await api.delete(machineResource, ref);
    await clock.advance(10);
    expect([asked.mock.calls.length, evicted()]).toEqual([0, ["default/a"]]);
  });
});

it("looks after machines one by one: trouble of one is none of the others'", async () => {
  const { api, clock, driver, start, create } = setUp();
  create(named("a"), { spec: { class: { name: "unknown" } } });
  create(named("b"));
  create(named("c"));
  await start();
  await clock.advance(10);
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

describe("many machines of a class", () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `m${String(index).padStart(2, "0")}`);
  const codes = (api: FakeApi) =>
    api.all<Machine>(machineResource).map(({ status }) => status?.lastOperation?.errorCode);

  it("are made twenty at a time", async () => {
    const { clock, driver, start, create } = setUp();
    for (const name of names(50)) create(named(name));
    const release = driver.hold();
    await start();
    await clock.advance(1_000);
    expect(driver.calls).toHaveLength(20);
    release();
    await clock.advance(1_000);
    expect([driver.calls.length, driver.vms.size]).toEqual([50, 50]);
  });

  it("without quota: one of them tries, the others say what they wait for, with one write each, and follow it", async () => {
    const { api, clock, driver, start, create, writes } = setUp();
    for (const name of names(40)) create(named(name), { spec: { creationTimeout: "2h" } });
    driver.fail("ensureVm", "ResourceExhausted", 1_000);
    await start();
    await clock.advance(10_000);
    expect(new Set(codes(api))).toEqual(new Set(["ResourceExhausted"]));
    // Twenty had begun before the first answer.
    expect(driver.calls.length).toBeLessThanOrEqual(21);
    const written = writes().length;
    const called = driver.calls.length;
    await clock.advance(10 * 60_000);
    expect(driver.calls.length - called).toBeLessThanOrEqual(5);
    expect(writes().length - written).toBeLessThanOrEqual(15);

    driver.faults.length = 0;
    await clock.advance(11 * 60_000);
    expect(driver.vms.size).toBe(40);
  });

  it("are tried at once when their secret is mended", async () => {
    const { api, clock, driver, start, create } = setUp();
    for (const name of names(30)) create(named(name));
    driver.fail("ensureVm", "Unauthenticated", 24);
    await start();
    await clock.advance(60_000);
    expect(driver.vms.size).toBe(0);
    driver.faults.length = 0;
    api.change(secretResource, secretRef, { data: { token: "bmV3" } });
    await clock.advance(1_000);
    expect(driver.vms.size).toBe(30);
  });
});

it("deletes a VM whose machine vanished while it was made", async () => {
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

describe("a machine whose class was taken away", () => {
  const taken = async (...twin: readonly Change<MachineClass>[]) => {
    const setup = setUp();
    const { api, clock, start, create } = setup;
    api.seed(machineClassResource, aMachineClass(named("twin"), ...twin));
    create();
    await start();
    await clock.advance(10);
    api.remove(machineClassResource, secretRef);
    await api.delete(machineResource, ref);
    await clock.advance(1_000);
    return setup;
  };

  it("is deleted through another class of the same driver, region and credentials", async () => {
    const { driver, machine } = await taken();
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });

  it("keeps its VM in mind otherwise, says what to restore, and goes on when that is done", async () => {
    const { api, clock, driver, machine } = await taken({ secretRef: { name: "other" } });
    expect(machine()?.status?.lastOperation?.description).toContain(
      'it was made by driver "mock" from MachineClass "small" with Secret "small": restore them',
    );
    expect(driver.vms.size).toBe(1);
    api.seed(machineClassResource, aMachineClass({ metadata: { uid: "uid-of-the-next" } }));
    await clock.advance(1_000);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });
});

it("says in the machine what the API server refuses during its deletion, once, and goes on when it is allowed", async () => {
  const { api, clock, start, create, join, machine } = setUp();
  create();
  await start();
  await clock.advance(10);
  join();
  await clock.advance(10);
  api.inject({ verb: "patch", type: nodeResource, times: 5, error: serverError() });
  await api.delete(machineResource, ref);
  await clock.advance(100);
  expect(machine()?.status?.lastOperation).toMatchObject({
    state: "Failed",
    description: expect.stringMatching(/^Drain failed due to - .* Will retry in next sync\. Initiate node drain$/),
  });
  await clock.advance(120_000);
  expect(machine()).toBeUndefined();
});
