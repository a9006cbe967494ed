import { seededRandom } from "@millwright/base";
import type { ListedMachine } from "@millwright/core";
import {
  annotationKeys,
  finalizers,
  labelKeys,
  type MachineClass,
  machineClassResource,
  machineResource,
} from "@millwright/core/machine-api";
import {
  type EventRecord,
  nodeResource,
  podDisruptionBudgetResource,
  podResource,
  secretResource,
} from "@millwright/kube";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ControllerContext, Target } from "../cluster/context.ts";
import type { VmCall } from "../model/driver-port.ts";
import { fixed } from "../model/live.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import type { Node } from "../model/node-objects.ts";
import { aMachine, aMachineClass, aNode, inPhase, named, refOf, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { aBudget, aPod } from "../testing/drain-objects.ts";
import { createFakeDriver } from "../testing/fake-driver.ts";
import { createVmLists } from "../vm-lists/vm-lists.ts";
import { collectOrphans, type OrphanMode } from "./collector.ts";
import { createOrphanNodeController } from "./node-controller.ts";

const MINUTE = 60_000;
const userData = Buffer.from("#cloud-config").toString("base64");
const forbids = { disruptionsAllowed: 0, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1 };
const status = (ready: string, at = "2026-01-01T00:00:00Z") => ({
  conditions: [{ type: "Ready", status: ready, lastTransitionTime: at }],
});

/** A VM of a machine, and VMs without, each with a Node that our finalizer keeps. */
async function aCloud(lost: readonly string[] = ["lost"]) {
  const { api, clock, newContext, run } = createTestCluster({ random: seededRandom(3) });
  const vms = new Map<string, ListedMachine>();
  const calls: string[] = [];
  const events: string[] = [];
  const addVm = (name: string) => void vms.set(`vm-${name}`, { providerId: `vm-${name}`, machineName: name });
  const addNode = (name: string, vm: string, change: Partial<Node> = {}) =>
    api.seed(
      nodeResource,
      aNode({
        spec: { providerID: vm },
        ...change,
        metadata: { name, finalizers: [finalizers.node], ...change.metadata },
      }),
    );
  for (const name of ["kept", ...lost]) {
    addVm(name);
    addNode(`node-${name}`, `vm-${name}`);
  }
  api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data: { userData } });
  api.seed(machineClassResource, aMachineClass());
  api.seed(machineResource, aMachine(named("kept"), { spec: { providerID: "vm-kept" } }, inPhase("Running")));
  const answers = { isMissing: false };
  const driver = {
    ...createFakeDriver(),
    listsVms: () => true,
    listVms: async () => ({ ok: true, value: [...vms.values()] }) as const,
    deleteVm: async ({ machine }: VmCall) => {
      const id = machine.spec.providerID ?? "";
      calls.push(id);
      vms.delete(id);
      return { ok: true, value: answers.isMissing ? { isMissing: true } : {} } as const;
    },
  };

  /** A process, until the returned function is called. */
  const start = async (
    mode: OrphanMode = "collect",
    change: (context: ControllerContext & { target: Target }) => object = () => ({}),
  ) => {
    const stop = new AbortController();
    const made = newContext();
    const context = {
      ...made,
      events: { ...made.events, record: (_: unknown, { reason }: EventRecord) => void events.push(reason) },
      ...change(made),
    };
    const lists = createVmLists(context, driver);
    const times = { minAgeMs: 20 * MINUTE, quarantineMs: 15 * MINUTE, drainTimeoutMs: 120 * MINUTE };
    const drains = collectOrphans(context, driver, lists, { mode, ...times });
    const nodes = createOrphanNodeController(context, {
      driver,
      settings: fixed(defaultMachineSettings),
      drains,
      collects: mode === "collect",
    });
    await run(context, stop.signal);
    const running = Promise.all([lists.controller.start(stop.signal), nodes.controller.start(stop.signal)]);
    const end = async () => {
      stop.abort(new Error("stopped"));
      await nodes.close();
      await running;
    };
    onTestFinished(end);
    return end;
  };
  const node = (name = "node-lost") => api.peek<Node>(nodeResource, { name });
  const cordon = (name?: string) => [
    node(name)?.spec?.unschedulable ?? false,
    node(name)?.metadata.annotations?.[annotationKeys.orphanNode] !== undefined,
  ];
  const entry = (id = "vm-lost") => {
    const { metadata } = api.peek<MachineClass>(machineClassResource, refOf("small")) ?? aMachineClass();
    return JSON.parse(metadata.annotations?.[annotationKeys.orphanVms] ?? "{}").vms?.[id];
  };
  const forbidden = (nodeName = "node-lost") => {
    api.seed(podResource, aPod("web", { spec: { nodeName } }));
    api.seed(podDisruptionBudgetResource, aBudget({ status: forbids }));
  };
  const pod = () => api.peek(podResource, { namespace: "default", name: "web" });
  const evictions = () => api.writes().filter(({ subresource }) => subresource === "eviction").length;
  return {
    api,
    clock,
    vms,
    calls,
    events,
    answers,
    addVm,
    addNode,
    start,
    node,
    cordon,
    entry,
    forbidden,
    pod,
    evictions,
  };
}

describe("the Node of a VM without machine", () => {
  it("is cordoned in quarantine, drained within its budget, and deleted after the VM", async () => {
    const { api, clock, calls, events, start, node, cordon, entry, forbidden, evictions } = await aCloud();
    forbidden();
    await start();
    await clock.advance(18 * MINUTE);
    expect(cordon()).toEqual([false, false]);
    await clock.advance(18 * MINUTE);
    expect([cordon(), entry()]).toEqual([[true, true], expect.not.objectContaining({ draining: expect.anything() })]);
    await clock.advance(30 * MINUTE);
    expect(entry()).toMatchObject({ draining: expect.any(String) });
    expect([calls, evictions()]).toEqual([[], 0]);
    api.change(
      podDisruptionBudgetResource,
      { namespace: "default", name: "web" },
      { status: { disruptionsAllowed: 1 } },
    );
    await clock.advance(MINUTE);
    expect(evictions()).toBe(1);
    await clock.advance(5 * MINUTE);
    expect([calls, node(), entry()]).toEqual([["vm-lost"], undefined, undefined]);
    expect(events).toEqual(["OrphanVMFound", "OrphanVMDraining", "DrainBlocked", "OrphanVMDrained", "OrphanVMDeleted"]);
    expect([cordon("node-kept"), node("node-kept")?.metadata.name]).toEqual([[false, false], "node-kept"]);
  });

  it("is drained at most for the drain timeout, also when processes are killed again and again", async () => {
    const { clock, calls, start, node, entry, forbidden, evictions } = await aCloud();
    forbidden();
    let end = await start();
    await clock.advance(60 * MINUTE);
    const { draining } = entry();
    for (let kills = 0; kills < 4; kills++) {
      await end();
      end = await start();
      await clock.advance(20 * MINUTE);
      expect([calls, evictions(), entry().draining]).toEqual([[], 0, draining]);
    }
    await clock.advance(90 * MINUTE);
    expect([calls, node()]).toEqual([["vm-lost"], undefined]);
  });

  it("is deleted by the next process when one is killed right after the VM's deletion, unless its kubelet runs", async () => {
    const { api, clock, calls, events, answers, vms, start, node, forbidden } = await aCloud();
    forbidden();
    const end = await start();
    await clock.advance(60 * MINUTE);
    await end();
    vms.delete("vm-lost");
    answers.isMissing = true;
    api.remove(podResource, { namespace: "default", name: "web" });
    await start();
    await clock.advance(20 * MINUTE);
    expect([calls.at(-1), events.at(-1), node()?.metadata.name]).toEqual([
      "vm-lost",
      "OrphanVMNotDeleted",
      "node-lost",
    ]);
    api.change(nodeResource, { name: "node-lost" }, { status: status("Unknown", clock.now().toISOString()) });
    await clock.advance(20 * MINUTE);
    expect([events.at(-1), node()]).toEqual(["OrphanVMDeleted", undefined]);
  });

  it("takes pods again when a machine gets the VM, in quarantine or in the middle of the drain", async () => {
    for (const minutes of [40, 60]) {
      const { api, clock, calls, start, cordon, entry, forbidden, evictions, pod, node } = await aCloud();
      forbidden();
      await start();
      await clock.advance(minutes * MINUTE);
      expect([cordon(), entry()?.draining !== undefined]).toEqual([[true, true], minutes === 60]);
      api.seed(machineResource, aMachine(named("rescued"), { spec: { providerID: "vm-lost" } }));
      await clock.advance(1_000);
      expect(cordon()).toEqual([false, false]);
      expect(node()?.metadata.annotations).toEqual({});
      api.change(
        podDisruptionBudgetResource,
        { namespace: "default", name: "web" },
        { status: { disruptionsAllowed: 1 } },
      );
      await clock.advance(300 * MINUTE);
      expect([calls, evictions(), pod() !== undefined, cordon(), entry()]).toEqual([
        [],
        0,
        true,
        [false, false],
        undefined,
      ]);
    }
  });

  it("stays cordoned where someone else had cordoned it", async () => {
    const { api, clock, start, cordon } = await aCloud();
    api.change(nodeResource, { name: "node-lost" }, { spec: { unschedulable: true } });
    await start();
    await clock.advance(40 * MINUTE);
    expect(cordon()).toEqual([true, true]);
    api.seed(machineResource, aMachine(named("rescued"), { spec: { providerID: "vm-lost" } }));
    await clock.advance(MINUTE);
    expect(cordon()).toEqual([true, false]);
  });

  it("gets no more evictions while the machines are in doubt, and its VM is kept", async () => {
    const { api, clock, calls, start, cordon, forbidden, evictions } = await aCloud();
    forbidden();
    await start();
    await clock.advance(60 * MINUTE);
    api.seed(machineResource, { ...aMachine(named("broken")), spec: { providerID: 1 } });
    await clock.advance(1_000);
    api.change(
      podDisruptionBudgetResource,
      { namespace: "default", name: "web" },
      { status: { disruptionsAllowed: 1 } },
    );
    await clock.advance(200 * MINUTE);
    expect([calls, evictions(), cordon()]).toEqual([[], 0, [true, true]]);
    api.remove(machineResource, refOf("broken"));
    await clock.advance(18 * MINUTE);
    expect(evictions()).toBeGreaterThan(0);
  });

  it("is one of two after a change of the host name: both are drained and deleted", async () => {
    const { api, clock, calls, addNode, start, node, cordon, forbidden } = await aCloud();
    addNode("renamed", "vm-lost");
    forbidden("renamed");
    await start();
    await clock.advance(60 * MINUTE);
    expect([calls, cordon(), cordon("renamed")]).toEqual([[], [true, true], [true, true]]);
    api.remove(podResource, { namespace: "default", name: "web" });
    await clock.advance(5 * MINUTE);
    expect([calls, node(), node("renamed")]).toEqual([["vm-lost"], undefined, undefined]);
  });

  it("is absent for a moment, while pods are bound to it: it is drained when it is back", async () => {
    const { api, clock, calls, events, addNode, start, cordon, forbidden, node } = await aCloud();
    forbidden();
    await start();
    await clock.advance(60 * MINUTE);
    api.remove(nodeResource, { name: "node-lost" });
    await clock.advance(20 * MINUTE);
    expect([calls, events.at(-1)]).toEqual([[], "OrphanVMNotDeleted"]);
    addNode("node-lost", "vm-lost");
    await clock.advance(20 * MINUTE);
    expect([calls, cordon()]).toEqual([[], [true, true]]);
    api.remove(nodeResource, { name: "node-lost" });
    await clock.advance(120 * MINUTE);
    expect([calls, node()]).toEqual([["vm-lost"], undefined]);
  });

  it("is found by the label of its machine where its provider id shows nothing, and not that of a machine that exists", async () => {
    const { clock, calls, addVm, addNode, start, node } = await aCloud([]);
    addVm("lost");
    const label = (name: string) => ({
      spec: {},
      metadata: { name: `by-${name}`, labels: { [labelKeys.machineName]: name } },
    });
    addNode("by-lost", "", label("lost"));
    addNode("by-kept", "", label("kept"));
    await start();
    await clock.advance(80 * MINUTE);
    expect([calls, node("by-lost"), node("by-kept")?.metadata.name]).toEqual([["vm-lost"], undefined, "by-kept"]);
  });

  it("is that of a second VM of a machine", async () => {
    const { clock, vms, calls, addNode, start, node } = await aCloud([]);
    vms.set("vm-twin", { providerId: "vm-twin", machineName: "kept" });
    addNode("node-twin", "vm-twin");
    await start();
    await clock.advance(80 * MINUTE);
    expect([calls, node("node-twin"), node("node-kept")?.metadata.name]).toEqual([["vm-twin"], undefined, "node-kept"]);
  });

  it("gets back what was taken from it in mode report; marks of another namespace are left", async () => {
    const { api, clock, calls, start, cordon } = await aCloud(["lost", "foreign"]);
    const end = await start();
    await clock.advance(40 * MINUTE);
    await end();
    const mark = JSON.stringify({ machineClass: "other/small", cordoned: true });
    const spec = { unschedulable: true };
    api.change(
      nodeResource,
      { name: "node-foreign" },
      { spec, metadata: { annotations: { [annotationKeys.orphanNode]: mark } } },
    );
    await start("report");
    await clock.advance(90 * MINUTE);
    expect([calls, cordon(), cordon("node-foreign")]).toEqual([[], [false, false], [true, true]]);
  });
});

it("drains at most ten Nodes of a class at once", async () => {
  const names = Array.from({ length: 14 }, (_, index) => `lost-${index}`);
  const { api, clock, calls, start, entry } = await aCloud(names);
  for (let index = 0; index < 30; index++) {
    const machine = aMachine(named(`m-${index}`), { spec: { providerID: `vm-m-${index}` } }, inPhase("Running"));
    api.seed(machineResource, machine);
  }
  for (const name of names) api.seed(podResource, aPod(`web-${name}`, { spec: { nodeName: `node-${name}` } }));
  api.seed(
    podDisruptionBudgetResource,
    aBudget({ status: { ...forbids, expectedPods: 14, currentHealthy: 14, desiredHealthy: 14 } }),
  );
  await start();
  for (const minutes of [60, 60]) {
    await clock.advance(minutes * MINUTE);
    expect(names.filter((name) => entry(`vm-${name}`)?.draining !== undefined)).toHaveLength(10);
  }
  expect(calls).toEqual([]);
});

it("keeps a VM without machine while the API server of the Nodes was never reached", async () => {
  const { clock, calls, events, start } = await aCloud();
  await start("collect", ({ target }) => ({
    target: {
      ...target,
      isSeparate: true,
      caches: { ...target.caches, pods: { ...target.caches.pods, hasSynced: () => false } },
    },
  }));
  await clock.advance(80 * MINUTE);
  expect([calls, events]).toEqual([[], expect.arrayContaining(["OrphanVMFound", "OrphanVMNotDeleted"])]);
});
