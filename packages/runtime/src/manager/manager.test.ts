import { seededRandom } from "@millwright/base";
import { MachineError } from "@millwright/core";
import {
  type Machine,
  machineApiVersion,
  machineClassResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { customResourceDefinitionResource, eventResource, type Log, nodeResource } from "@millwright/kube";
import { createFakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it, vi } from "vitest";
import { createManager } from "./manager.ts";
import { aDriver } from "../testing/fake-driver.ts";
import { aCloud, aLeadership, aManager, aSet, aStop, namespace } from "../testing/managed.ts";

describe("a manager", () => {
  it("is ready when its caches are, and takes a set of machines from nothing to Running and back", async () => {
    const { vms, driver } = aCloud();
    const { api, clock, manager, stop, machines, phases } = aManager(driver);
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    api.seed(machineSetResource, aSet(2));
    await clock.advance(5_000);
    expect(phases()).toEqual(["Pending", "Pending"]);
    for (const { metadata } of machines()) {
      const status = { conditions: [{ type: "Ready", status: "True" }] };
      api.seed(nodeResource, { metadata: { name: metadata.name }, status });
    }
    await clock.advance(5_000);
    expect(phases()).toEqual(["Running", "Running"]);
    expect(await manager.metrics()).toContain("mcm_machine_items_total 2");
    expect(await manager.metrics()).toContain(
      `mcm_machine_set_status_replicas{name="pool",namespace="${namespace}"} 2`,
    );
    expect(vms.size).toBe(2);
    expect(api.peek<MachineSet>(machineSetResource, { namespace, name: "pool" })?.status?.readyReplicas).toBe(2);
    expect(api.all(eventResource).length).toBeGreaterThan(0);

    api.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: 0 } });
    await clock.advance(10_000);
    expect([machines(), vms.size, api.all(nodeResource)]).toEqual([[], 0, []]);
    const counted = await manager.metrics();
    for (const step of ["create", "join", "drain", "delete"])
      expect(counted).toContain(
        `millwright_machine_step_duration_seconds_count{namespace="${namespace}",machine_deployment="pool",step="${step}"} 2`,
      );
    expect(counted).toContain("mcm_machine_items_total 0");
    expect(counted).not.toContain("mcm_machine_info{");
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  it("starts creations at once that wait when limits are raised", async () => {
    let calls = 0;
    const createMachine = () => {
      calls++;
      return new Promise<never>(() => undefined);
    };
    const { driver } = aCloud();
    const settings = { maxConcurrentCreationsPerClass: 1 };
    const { api, clock, manager, stop } = aManager({ ...driver, createMachine }, { settings });
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    api.seed(machineSetResource, aSet(5));
    await clock.advance(5_000);
    expect(calls).toBe(1);
    manager.reconfigure({ settings: { maxConcurrentCreationsPerClass: 3 } });
    await clock.advance(5_000);
    expect(calls).toBe(3);
    stop.abort(new Error("done"));
    await clock.advance(20_000);
    await running;
  });

  it("runs the controllers of sets alone, without a driver, beside one that runs those of machines", async () => {
    const { vms, driver } = aCloud();
    const clock = createVirtualClock();
    const owners = aManager(driver, { drivers: [], controllers: ["machineset", "machinedeployment"] }, clock);
    const { api } = owners;
    const running = owners.manager.start(owners.stop.signal);
    await owners.manager.ready(owners.stop.signal);
    api.seed(machineSetResource, aSet(2));
    await clock.advance(60_000);
    expect([owners.phases(), vms.size]).toEqual([[undefined, undefined], 0]);
    expect(await owners.manager.metrics()).not.toContain("mcm_machine_items_total");

    const controllers = ["machine", "machineclass", "secret"] as const;
    const stop = aStop();
    const shared = { control: api, target: api, namespace, clock, random: seededRandom(2) };
    const manager = createManager({ ...shared, drivers: [driver], controllers });
    const others = manager.start(stop.signal);
    await clock.advance(10_000);
    expect([owners.phases(), vms.size]).toEqual([["Pending", "Pending"], 2]);
    expect(await manager.metrics()).toContain("mcm_machine_items_total 2");
    api.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: 1 } });
    await clock.advance(60_000);
    expect(vms.size).toBe(1);
    for (const each of [stop, owners.stop]) each.abort(new Error("done"));
    await clock.advance(2_000);
    await Promise.all([running, others]);
  });

  it.each([
    ["deletes a VM without machine", undefined, ["deleted"]],
    ["leaves a VM without machine where their controller is not selected", ["machine", "machineclass"], []],
  ] as const)("%s", async (_, controllers, expected) => {
    const calls: string[] = [];
    const driver = aDriver({
      listMachines: () => Promise.resolve({ machines: [{ providerId: "mock:///lost", machineName: "lost" }] }),
      deleteMachine: () => {
        calls.push("deleted");
        return Promise.resolve({});
      },
    });
    const { manager, clock, stop } = aManager(driver, controllers === undefined ? {} : { controllers });
    const running = manager.start(stop.signal);
    await clock.advance(3 * 3_600_000);
    expect([...new Set(calls)]).toEqual(expected);
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  const machines = "machines.machine.sapcloud.io";
  it.each([
    ["machines without leases", { leadership: undefined, hasOwnTarget: false }, [machines], []],
    ["nothing with leases", { leadership: aLeadership().leadership, hasOwnTarget: false }, [], []],
    ["Nodes of a target cluster of their own", { leadership: undefined, hasOwnTarget: true }, [machines], ["nodes"]],
  ])(
    "finds a restore of an idle API server by the version of %s",
    async (_, { leadership, hasOwnTarget }, ...kinds) => {
      const clock = createVirtualClock();
      const other = createFakeApi({ clock });
      const { api, manager, stop } = aManager(
        undefined,
        { ...(leadership === undefined ? {} : { leadership }), ...(hasOwnTarget ? { target: other } : {}) },
        clock,
      );
      const running = manager.start(stop.signal);
      await clock.advance(1_000);
      for (const each of [api, other]) each.calls.length = 0;
      await clock.advance(49_000);
      const listed = [api, other].map(({ calls }) =>
        calls.filter(({ verb }) => verb === "list").map(({ resource }) => resource),
      );
      expect(listed).toEqual(kinds);
      stop.abort(new Error("done"));
      await clock.advance(2_000);
      await running;
    },
  );

  it("reports the failure of a class on all its machines at once, also on later ones", async () => {
    const refusing = aDriver({
      createMachine: async () => {
        throw new MachineError("ResourceExhausted", "quota of 0 VMs");
      },
      getMachineStatus: async () => {
        throw new MachineError("NotFound", "no VM");
      },
    });
    const { api, clock, manager, stop, machines, phases } = aManager(refusing);
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    api.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    expect(phases()).toEqual(["CrashLoopBackOff"]);
    api.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: 3 } });
    await clock.advance(5_000);
    expect(machines().map(({ status }) => status?.lastOperation?.errorCode)).toEqual(
      Array.from({ length: 3 }, () => "ResourceExhausted"),
    );
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  it("reconciles the machines of a driver that comes later at once, and accepts no second one of its name", async () => {
    const { vms, driver } = aCloud();
    const other = aDriver({ name: "other" });
    const { api, clock, manager, stop, phases } = aManager(other);
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    api.seed(machineSetResource, aSet(2));
    // None has failed for good, although the creation timeout is long over.
    await clock.advance(3_600_000);
    expect([vms.size, phases()]).toEqual([0, ["CrashLoopBackOff", "CrashLoopBackOff"]]);
    manager.addDriver(driver);
    await clock.advance(1_000);
    expect(vms.size).toBe(2);
    expect(() => manager.addDriver(driver)).toThrow('two drivers have the name "mock"');
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  it("fills in the node template of a class from its driver, and counts the calls of the driver", async () => {
    const nodeTemplate = { capacity: { cpu: 2, gpu: 0, memory: "8Gi" }, instanceType: "m", region: "r", zone: "z" };
    const driver = aDriver({
      getNodeTemplate: async (_, { reportApiCall }) => {
        reportApiCall?.({ service: "instance_type_get", outcome: "ok", seconds: 0.2 });
        return { nodeTemplate };
      },
    });
    const { api, clock, manager, stop } = aManager(driver);
    const running = manager.start(stop.signal);
    await clock.advance(1_000);
    expect(api.peek(machineClassResource, { namespace, name: "small" })).toMatchObject({ nodeTemplate });
    const metrics = await manager.metrics();
    expect(metrics).toContain('mcm_cloud_api_requests_total{provider="mock",service="instance_type_get"} 1');
    expect(metrics).toContain(
      'mcm_cloud_api_driver_request_duration_seconds_count{provider="mock",operation="get_node_template"} 1',
    );
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  it.each([
    ["with MCM's margins", {}, false],
    ["with margins of its own", { overshootMargins: { up: 0 } }, true],
  ])("freezes a set at so many machines too many, %s", async (_, change, isFrozen) => {
    const { api, clock, manager, stop } = aManager(aCloud().driver, change);
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    api.seed(machineSetResource, aSet(1));
    await clock.advance(2_000);
    const { uid = "" } = api.peek<MachineSet>(machineSetResource, { namespace, name: "pool" })?.metadata ?? {};
    const owner = { apiVersion: machineApiVersion, kind: "MachineSet", name: "pool", uid, controller: true };
    const metadata = { namespace, name: "pool-more", labels: { name: "pool" }, ownerReferences: [owner] };
    api.seed(machineResource, { metadata, spec: aSet(1).spec.template.spec });
    await clock.advance(2_000);
    expect(JSON.stringify(api.all(eventResource)).includes("FrozeMachineSet")).toBe(isFrozen);
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  it("manages machines without a target cluster", async () => {
    const { api, clock, stop, phases } = aManager();
    const lonely = createManager({
      control: api,
      namespace,
      drivers: [aCloud().driver],
      clock,
      random: seededRandom(2),
    });
    const running = lonely.start(stop.signal);
    api.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    expect(phases()).toEqual(["Available"]);
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  it("writes nothing, calls no driver and counts no objects before it leads", async () => {
    const { leadership, give } = aLeadership();
    const { vms, driver } = aCloud();
    const { api, clock, manager, stop, phases } = aManager(driver, { leadership });
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    api.seed(machineSetResource, aSet(1));
    await clock.advance(30_000);
    expect([api.writes(), vms.size]).toEqual([[], 0]);
    expect(await manager.metrics()).not.toContain("mcm_machine_set_items_total");
    give();
    await clock.advance(5_000);
    expect(phases()).toEqual(["Pending"]);
    expect(await manager.metrics()).toContain("mcm_machine_set_items_total 1");
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  it("keeps no keys in its queues before it leads, and reconciles every object when it does", async () => {
    const { leadership, give } = aLeadership();
    const { api, clock, manager, stop } = aManager(aCloud().driver, { leadership });
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    const machine = (name: string) => ({
      metadata: { namespace, name, labels: { name: "pool" } },
      spec: { class: { kind: "MachineClass", name: "small" } },
    });
    api.seed(machineResource, machine("deleted"));
    api.seed(machineResource, machine("kept"));
    api.seed(nodeResource, { metadata: { name: "deleted" } });
    await clock.advance(1_000);
    api.remove(machineResource, { namespace, name: "deleted" });
    api.remove(nodeResource, { name: "deleted" });
    await clock.advance(1_000);
    const valuesOf = async (metric: string) =>
      (await manager.metrics()).split("\n").filter((line) => line.startsWith(`${metric}{`) && !line.endsWith(" 0"));
    expect(await valuesOf("workqueue_depth")).toEqual([]);
    expect(await valuesOf("workqueue_adds_total")).toEqual([]);
    give();
    await clock.advance(5_000);
    expect((await valuesOf("workqueue_adds_total")).length).toBeGreaterThan(0);
    expect(api.peek<Machine>(machineResource, { namespace, name: "kept" })?.status?.currentStatus?.phase).toBe(
      "Pending",
    );
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
  });

  it("ends when it no longer leads, and makes no VM after that", async () => {
    const { leadership, give, take } = aLeadership();
    const { vms, driver } = aCloud();
    const { api, clock, manager, stop } = aManager(driver, { leadership });
    give();
    const ended = manager.start(stop.signal).catch((error: unknown) => error);
    await manager.ready(stop.signal);
    take();
    api.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    expect(await ended).toMatchObject({ message: "another instance leads" });
    expect([api.writes(), vms.size]).toEqual([[], 0]);
  });

  it("writes to neither API server once leadership ended, before any message of it is handled", async () => {
    const { leadership, give, expire } = aLeadership();
    const clock = createVirtualClock();
    const target = createFakeApi({ clock });
    const { api: control, manager, stop, machines, phases } = aManager(aCloud().driver, { leadership, target }, clock);
    give();
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    control.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    const name = machines()[0]?.metadata.name ?? "";
    target.seed(nodeResource, { metadata: { name }, status: { conditions: [{ type: "Ready", status: "True" }] } });
    await clock.advance(5_000);
    expect(phases()).toEqual(["Running"]);
    const label = async (value: string) => {
      control.change(
        machineResource,
        { namespace, name },
        { spec: { nodeTemplate: { metadata: { labels: { value } } } } },
      );
      control.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: Number(value) } });
      await clock.advance(20_000);
    };
    await label("2");
    expect([control, target].map((api) => api.writes().length > 0)).toEqual([true, true]);
    for (const { calls } of [control, target]) calls.length = 0;
    expire();
    await label("3");
    expect([control.writes(), target.writes()]).toEqual([[], []]);
    stop.abort(new Error("done"));
    await clock.advance(5_000);
    await running;
  });

  it("calls no driver once leadership ended, before any message of it is handled", async () => {
    const { leadership, give, expire } = aLeadership();
    let deletions = 0;
    const deleteMachine = async (): Promise<never> => {
      deletions++;
      throw new MachineError("Unavailable", "busy");
    };
    const driver = aDriver({ ...aCloud().driver, deleteMachine });
    const { api, clock, manager, stop, machines } = aManager(driver, { leadership });
    give();
    const running = manager.start(stop.signal);
    await manager.ready(stop.signal);
    api.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    await api.delete(machineResource, { namespace, name: machines()[0]?.metadata.name ?? "" });
    await clock.advance(60_000);
    const before = deletions;
    expect(before).toBeGreaterThan(1);
    expire();
    await clock.advance(600_000);
    expect(deletions).toBe(before);
    stop.abort(new Error("done"));
    await clock.advance(15_000);
    await running;
  });

  it("stops cleanly while it waits to lead", async () => {
    const { api, manager, stop, clock } = aManager(aCloud().driver, { leadership: aLeadership().leadership });
    const running = manager.start(stop.signal);
    await clock.advance(1_000);
    stop.abort(new Error("done"));
    await clock.advance(2_000);
    await running;
    expect(api.writes()).toEqual([]);
  });

  it("stops at once while a driver call is under way, and the next one goes on with the same VM", async () => {
    const { vms, driver } = aCloud();
    const made = vi.fn<(signal: AbortSignal) => void>();
    const hanging = aDriver({
      ...driver,
      createMachine: async (request, context) => {
        await driver.createMachine(request, context);
        made(context.signal);
        return new Promise<never>(() => {});
      },
    });
    const { api, clock, manager, stop, phases } = aManager(hanging);
    const running = manager.start(stop.signal);
    api.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    expect([made.mock.calls.length, vms.size, phases()]).toEqual([1, 1, [undefined]]);
    stop.abort(new Error("stop"));
    await running;
    expect(made.mock.calls.map(([signal]) => signal.aborted)).toEqual([true]);

    const again = aStop();
    const options = { control: api, target: api, namespace, drivers: [driver], clock, random: seededRandom(3) };
    const next = createManager(options).start(again.signal);
    await clock.advance(5_000);
    expect([vms.size, phases()]).toEqual([1, ["Pending"]]);
    again.abort(new Error("stop"));
    await clock.advance(2_000);
    await next;
  });

  it("leaves no timer and no watch behind", async () => {
    const { api, clock, manager, stop } = aManager();
    const running = manager.start(stop.signal);
    api.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    stop.abort(new Error("stop"));
    await running;
    await clock.advance(0);
    expect(clock.pending()).toBe(0);
    api.calls.length = 0;
    await clock.advance(3_600_000);
    expect(api.calls).toEqual([]);
  });

  it("does not wait forever for events that are not accepted", async () => {
    const { api, clock, manager, stop } = aManager();
    const running = manager.start(stop.signal);
    const create = api.create.bind(api);
    vi.spyOn(api, "create").mockImplementation((type, object, options) =>
      type.kind === "Event" ? new Promise(() => {}) : create(type, object, options),
    );
    api.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    let isOver = false;
    const over = running.then(() => (isOver = true));
    stop.abort(new Error("stop"));
    await clock.advance(1_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await over;
  });

  it("stops as a whole when one of its parts fails for good", async () => {
    const log = vi.fn<Log>(() => {
      // A log must not throw: this one stands for a fault in any part.
      throw new Error("the disk is on fire");
    });
    const { api, clock, manager, stop } = aManager(undefined, { log });
    api.inject({ type: machineClassResource, error: serverError() });
    const failed = manager.start(stop.signal).catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await failed).toMatchObject({ message: "the disk is on fire" });
    api.calls.length = 0;
    await clock.advance(3_600_000);
    expect(api.calls).toEqual([]);
  });

  it("is not ready before the first lists, and stops asking when the caller does", async () => {
    const { clock, manager } = aManager();
    const patience = new AbortController();
    const ready = manager.ready(patience.signal).catch((error: unknown) => error);
    await clock.advance(1_000);
    patience.abort(new Error("not now"));
    expect(await ready).toMatchObject({ message: "not now" });
  });

  it("logs that and creates nothing while the state of its CRDs is unknown", async () => {
    const lines: unknown[] = [];
    const log: Log = (_, message, fields) => void lines.push([message, fields]);
    const { api, clock, manager, stop, machines } = aManager(aCloud().driver, { log });
    api.seed(machineSetResource, aSet(1));
    const silent = { type: customResourceDefinitionResource, error: serverError(), times: 1_000 };
    for (const verb of ["list", "watch"] as const) api.inject({ verb, ...silent });
    const running = manager.start(stop.signal);
    await clock.advance(15_000);
    expect(lines).toContainEqual([
      "Waiting for the first list of some kinds",
      { kinds: ["customresourcedefinitions"] },
    ]);
    expect(machines()).toEqual([]);
    stop.abort();
    await running;
  });

  it("starts once", async () => {
    const { clock, manager, stop, phases, api } = aManager();
    const running = manager.start(stop.signal);
    await expect(manager.start(stop.signal)).rejects.toThrow("the manager was started before");
    // The first start is unharmed.
    api.seed(machineSetResource, aSet(1));
    await clock.advance(5_000);
    expect(phases()).toEqual(["Pending"]);
    stop.abort(new Error("stop"));
    await clock.advance(2_000);
    await running;
  });
});
