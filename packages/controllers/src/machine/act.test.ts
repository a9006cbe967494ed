import { machineResource } from "@millwright/core/machine-api";
import {
  nodeResource,
  persistentVolumeResource,
  podResource,
  volumeAttachmentResource,
  createEvictionQueue,
} from "@millwright/kube";
import { conflictError, serverError, tooManyRequestsError } from "@millwright/kube/testing";
import { describe, expect, it, vi } from "vitest";
import { readDrainRecord } from "../drain/drain-record.ts";
import { createVolumeIds } from "../drain/volume-ids.ts";
import { aMachine, aMachineClass, aNode, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createFakeDriver } from "../testing/fake-driver.ts";
import { aVolume } from "../testing/drain-objects.ts";
import { aMove } from "../testing/drain-views.ts";
import { unusable } from "../testing/snapshots.ts";
import { createMachineExecutor } from "./act.ts";
import type { ResolvedClass } from "../cluster/class-view.ts";
import type { MachineAction } from "./state/decision.ts";
import { createRestoredTaints } from "./state/restored-taints.ts";
import { createOperations } from "./operations/operations.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { fixed } from "../model/live.ts";

const ref = { namespace: testNamespace, name: "machine" };
const podRef = { namespace: "default", name: "web" };
const usable: ResolvedClass = {
  view: { state: "usable", machineClass: aMachineClass() },
  inputs: "v1",
  secret: {},
  unread: [],
};
const evict: MachineAction = { kind: "EvictPod", ...podRef, uid: "uid-web" };

async function setUp(options: { readonly hasTarget?: boolean } = {}) {
  const { api, clock, newContext, run } = createTestCluster();
  api.seed(machineResource, aMachine());
  api.seed(nodeResource, aNode());
  api.seed(podResource, { metadata: { ...podRef, uid: "uid-web" } });
  api.seed(volumeAttachmentResource, { metadata: { name: "va", uid: "uid-va" } });
  const { target, ...rest } = newContext();
  const context = options.hasTarget === false ? rest : { ...rest, target };
  await run(context, new AbortController().signal);
  const operations = createOperations(clock);
  const driver = createFakeDriver();
  const enqueue = vi.fn<() => void>();
  const remediations = { start: vi.fn<(uid: string, group: string) => void>(), cancel: vi.fn<(uid: string) => void>() };
  const evictions =
    options.hasTarget === false
      ? undefined
      : createEvictionQueue({ api: target.api, clock, random: context.random, perSecond: 1_000 });
  const volumeIds = createVolumeIds(clock);
  const podKnowledge = { confirm: vi.fn<(machine: string, nodeName: string) => void>() };
  const nodeReads = { record: vi.fn<(uid: string, nodeName: string) => void>() };
  const log = vi.fn<(level: string, message: string) => void>();
  const executor = createMachineExecutor(
    { ...context, log },
    {
      operations,
      driver,
      settings: fixed(defaultMachineSettings),
      remediations,
      evictions,
      volumeIds,
      podKnowledge,
      nodeReads,
      restoredTaints: createRestoredTaints(clock),
      enqueue,
    },
  );
  const act = (action: MachineAction, resolved = usable) => executor.act(aMachine(), resolved, action);
  return {
    api,
    clock,
    target,
    driver,
    operations,
    remediations,
    evictions,
    volumeIds,
    podKnowledge,
    nodeReads,
    enqueue,
    log,
    act,
    context,
  };
}

describe("driver calls", () => {
  it.each([
    ["create", "ensureVm machine"],
    ["find", "findVm machine"],
    ["delete", "deleteVm machine"],
  ] as const)("of kind %s run outside of the queue and enqueue the machine at their end", async (operation, call) => {
    const { act, clock, driver, operations, enqueue } = await setUp();
    await act({ kind: "StartOperation", operation });
    expect(operations.get("uid-machine")).toMatchObject({ kind: operation, state: "running" });
    expect(enqueue).not.toHaveBeenCalled();
    await clock.advance(0);
    expect(driver.calls).toEqual([call]);
    expect(enqueue).toHaveBeenCalledTimes(1);
    // The controller acknowledges the outcome when all that was decided on it is stored.
    const outcome = operations.get("uid-machine");
    await act({ kind: "AcknowledgeOperation" });
    expect(operations.get("uid-machine")).toBe(outcome);
  });

  it("are not started with an unusable class", async () => {
    const { act, operations } = await setUp();
    await act({ kind: "StartOperation", operation: "create" }, { ...usable, view: unusable("X", "y") });
    expect(operations.get("uid-machine")).toBeUndefined();
  });
});

describe("writes", () => {
  it("of the machine are in the cache before the next reconcile", async () => {
    const { act, context } = await setUp();
    await act({ kind: "PatchMachine", patch: { spec: { providerID: "vm-1" } } });
    expect(context.caches.machines.store.getByRef(ref)?.spec.providerID).toBe("vm-1");
  });

  it("never give a VM to another machine of the same name", async () => {
    const { act, api } = await setUp();
    api.remove(machineResource, ref);
    api.seed(machineResource, { ...aMachine(), metadata: { ...aMachine().metadata, uid: "uid-second" } });
    const patch = { metadata: { uid: "uid-machine" }, spec: { providerID: "vm-1" } };
    await expect(act({ kind: "PatchMachine", patch })).rejects.toMatchObject({ status: 409 });
    expect(api.peek<ReturnType<typeof aMachine>>(machineResource, ref)?.spec.providerID).toBeUndefined();
  });

  it("of the node are in the cache before the next reconcile", async () => {
    const { act, target } = await setUp();
    await act({ kind: "PatchNode", name: "node", patch: { spec: { unschedulable: true } } });
    expect(target.caches.nodes.store.get("node")?.spec?.unschedulable).toBe(true);
    await act({ kind: "DeleteNode", name: "node", uid: "uid-node" });
    expect(target.caches.nodes.store.get("node")).toBeUndefined();
  });

  it("do not touch another node of the same name", async () => {
    const { act, api } = await setUp();
    await expect(act({ kind: "DeleteNode", name: "node", uid: "older" })).rejects.toMatchObject({ status: 409 });
    expect(api.peek(nodeResource, { name: "node" })).toBeDefined();
  });

  it("are rejected without a target cluster: no decision requests them there", async () => {
    const { act } = await setUp({ hasTarget: false });
    await expect(act({ kind: "PatchNode", name: "node", patch: {} })).rejects.toThrow("there is no target cluster");
    await expect(act({ kind: "DeleteNode", name: "node", uid: "u" })).rejects.toThrow("there is no target cluster");
    await expect(act(evict)).rejects.toThrow("there is no target cluster");
    const deletion = { kind: "DeletePod", atOnce: true, ...podRef, uid: "u" } as const;
    await expect(act(deletion)).rejects.toThrow("there is no target cluster");
  });

  it("that may fail keep nothing from going on", async () => {
    const { act, api, log } = await setUp();
    api.inject({ verb: "patch", times: 3, error: serverError() });
    await act({ kind: "PatchNode", name: "node", patch: {}, mayFail: true });
    await act({ kind: "PatchNodeStatus", name: "node", patch: {}, mayFail: true });
    expect(log.mock.calls.map(([level]) => level)).toEqual(["warn", "warn"]);
    await expect(act({ kind: "PatchNode", name: "node", patch: {} })).rejects.toMatchObject({ status: 500 });
  });
});

describe("orders to pods", () => {
  it.each([
    ["EvictPod", evict, "create eviction"],
    ["DeletePod", { kind: "DeletePod", atOnce: false, ...podRef, uid: "uid-web" } as const, "delete"],
    ["DeletePod at once", { kind: "DeletePod", atOnce: true, ...podRef, uid: "uid-web" } as const, "delete"],
  ])("are sent outside of the queue, and the response enqueues the machine: %s", async (_, action, expected) => {
    const { act, api, clock, enqueue } = await setUp();
    await act(action);
    expect(enqueue).not.toHaveBeenCalled();
    await clock.advance(0);
    expect(api.writes().map(({ verb, subresource = "" }) => `${verb} ${subresource}`.trim())).toEqual([expected]);
    expect(enqueue).toHaveBeenCalledOnce();
  });

  it("keep the grace period unless they are immediate", async () => {
    const { act, api, clock } = await setUp();
    const spy = vi.spyOn(api, "delete");
    await act({ kind: "DeletePod", atOnce: false, ...podRef, uid: "uid-web" });
    await clock.advance(10);
    await act({ kind: "DeletePod", atOnce: true, ...podRef, uid: "uid-web" });
    await clock.advance(10);
    expect(spy.mock.calls.map(([, , options]) => options)).toEqual([
      { uid: "uid-web" },
      { uid: "uid-web", gracePeriodSeconds: 0 },
    ]);
  });

  it("that are rejected do not fail the reconcile", async () => {
    const { act, api, clock, evictions } = await setUp();
    api.inject({ verb: "create", subresource: "eviction", error: tooManyRequestsError({ budget: "web" }) });
    await act(evict);
    await clock.advance(0);
    expect(evictions?.view("uid-web")).toMatchObject({ state: "rejected", isBudget: true });
  });
});

describe("the state of a drain", () => {
  it("is in the annotation of the machine, and in the cache before the next reconcile", async () => {
    const { act, context } = await setUp();
    await act({ kind: "RecordDrain", record: { moves: [aMove("db")] } });
    const stored = context.caches.machines.store.getByRef(ref);
    expect(readDrainRecord(stored?.metadata ?? { name: "" })).toEqual({ moves: [aMove("db")] });
    await act({ kind: "RecordDrain", record: { moves: [] } });
    expect(context.caches.machines.store.getByRef(ref)?.metadata.annotations).toEqual({});
  });
});

describe("a read of a node", () => {
  it("puts it into the cache, is recorded and enqueues the machine, whether the node exists or not", async () => {
    const { act, api, target, nodeReads, enqueue } = await setUp();
    api.seed(nodeResource, aNode({ metadata: { name: "late" } }));
    // The watch has not delivered it yet.
    expect(target.caches.nodes.store.get("late")).toBeUndefined();
    await act({ kind: "ReadNode", name: "late" });
    expect(target.caches.nodes.store.get("late")).toBeDefined();
    await act({ kind: "ReadNode", name: "none" });
    expect(nodeReads.record.mock.calls).toEqual([
      ["uid-machine", "late"],
      ["uid-machine", "none"],
    ]);
    expect(enqueue).toHaveBeenCalledTimes(2);
  });

  it("takes a node out of the cache that does not exist any more", async () => {
    const { act, api, target } = await setUp();
    api.remove(nodeResource, { name: "node" });
    expect(target.caches.nodes.store.get("node")).toBeDefined();
    await act({ kind: "ReadNode", name: "node" });
    expect(target.caches.nodes.store.get("node")).toBeUndefined();
  });

  it("that fails is not recorded", async () => {
    const { act, api, nodeReads, enqueue } = await setUp();
    vi.spyOn(api, "get").mockRejectedValue(new Error("no"));
    await expect(act({ kind: "ReadNode", name: "late" })).rejects.toThrow("no");
    expect(nodeReads.record).not.toHaveBeenCalled();
    expect(enqueue).not.toHaveBeenCalled();
  });
});

describe("a read of the pods of a node", () => {
  it("puts them into the cache, then counts as a confirmation and enqueues the machine", async () => {
    const { act, api, target, podKnowledge, enqueue } = await setUp();
    for (const nodeName of ["node", "other"])
      api.seed(podResource, { metadata: { name: `on-${nodeName}`, namespace: "x" }, spec: { nodeName } } as never);
    // The watch has not delivered them yet.
    const cached = () => target.caches.pods.store.list().map(({ metadata }) => metadata.name);
    expect(cached()).toEqual(["web"]);
    await act({ kind: "ReadPods", nodeName: "node" });
    expect(cached()).toEqual(["web", "on-node"]);
    expect(podKnowledge.confirm.mock.calls).toEqual([[`${testNamespace}/machine`, "node"]]);
    expect(enqueue).toHaveBeenCalledOnce();
  });

  it("that fails confirms nothing", async () => {
    const { act, api, podKnowledge, enqueue } = await setUp();
    vi.spyOn(api, "list").mockRejectedValue(new Error("no"));
    await expect(act({ kind: "ReadPods", nodeName: "node" })).rejects.toThrow("no");
    expect(podKnowledge.confirm).not.toHaveBeenCalled();
    expect(enqueue).not.toHaveBeenCalled();
  });
});

describe("questions about volumes", () => {
  it("are one call for those that exist, and the result enqueues the machine", async () => {
    const { act, api, clock, volumeIds, enqueue } = await setUp();
    api.seed(persistentVolumeResource, { ...aVolume("pv-a") });
    api.seed(persistentVolumeResource, { metadata: { name: "nfs" }, spec: { nfs: { server: "s" } } } as never);
    await clock.advance(0);
    await act({ kind: "LookUpVolumeIds", volumes: ["pv-a", "nfs", "gone"] });
    await clock.advance(0);
    expect(enqueue).toHaveBeenCalledOnce();
    expect(["pv-a", "nfs", "gone"].map((name) => volumeIds.idOf("mock", name))).toEqual(["vol-pv-a", null, undefined]);
  });

  it("are not started with an unusable class, nor without a target cluster", async () => {
    const first = await setUp();
    await first.act({ kind: "LookUpVolumeIds", volumes: ["pv-a"] }, { ...usable, view: unusable("X", "y") });
    const second = await setUp({ hasTarget: false });
    await second.act({ kind: "LookUpVolumeIds", volumes: ["pv-a"] });
    for (const { volumeIds, clock, enqueue } of [first, second]) {
      await clock.advance(0);
      expect(enqueue).not.toHaveBeenCalled();
      expect(volumeIds.waitUntil("mock", "pv-a")).toBeUndefined();
    }
  });
});

describe("deletions", () => {
  it("of volume attachments use the defaults", async () => {
    const { act, api } = await setUp();
    const spy = vi.spyOn(api, "delete");
    await act({ kind: "DeleteVolumeAttachment", name: "va", uid: "uid-va" });
    expect(spy.mock.calls[0]?.[2]).toEqual({ uid: "uid-va" });
    expect(api.all(volumeAttachmentResource)).toEqual([]);
  });

  it("of volume attachments do not block: a missing one counts as deleted, a failure is logged", async () => {
    const { act, api, log } = await setUp();
    await act({ kind: "DeleteVolumeAttachment", name: "gone", uid: "u" });
    expect(log).not.toHaveBeenCalled();
    api.inject({ verb: "delete", error: conflictError() });
    await act({ kind: "DeleteVolumeAttachment", name: "va", uid: "uid-va" });
    expect(log).toHaveBeenCalledOnce();
  });
});

it("uses and releases the remediation budget", async () => {
  const { act, remediations } = await setUp();
  await act({ kind: "StartRemediation", uid: "uid-machine", group: "deployment pool" });
  expect(remediations.start).toHaveBeenCalledExactlyOnceWith("uid-machine", "deployment pool");
  await act({ kind: "CancelRemediation", uid: "uid-machine" });
  expect(remediations.cancel).toHaveBeenCalledExactlyOnceWith("uid-machine");
});
