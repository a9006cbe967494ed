import { machineResource } from "@millwright/core";
import { nodeResource, podResource, volumeAttachmentResource } from "@millwright/kube";
import { conflictError, serverError, tooManyRequestsError } from "@millwright/kube/testing";
import { describe, expect, it, vi } from "vitest";
import { aMachine, aMachineClass, aNode, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createFakeDriver } from "../testing/fake-driver.ts";
import { unusable } from "../testing/snapshots.ts";
import { createMachineExecutor } from "./act.ts";
import type { ResolvedClass } from "./class-view.ts";
import type { MachineAction } from "./decision.ts";
import { createOperations } from "./operations.ts";
import { defaultMachineSettings } from "./snapshot.ts";

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
  const wake = vi.fn<() => void>();
  const repairs = { take: vi.fn<(uid: string, group: string) => void>(), release: vi.fn<(uid: string) => void>() };
  const executor = createMachineExecutor(context, {
    operations,
    driver,
    settings: defaultMachineSettings,
    repairs,
    wake,
  });
  const act = (action: MachineAction, resolved = usable) => executor.act(aMachine(), resolved, action);
  return { api, clock, target, driver, operations, repairs, wake, act, context };
}

describe("driver calls", () => {
  it.each([
    ["create", "ensureVm machine"],
    ["find", "findVm machine"],
    ["delete", "deleteVm machine"],
  ] as const)("of kind %s run beside the queue and wake the machine at their end", async (operation, call) => {
    const { act, clock, driver, operations, wake } = await setUp();
    await act({ kind: "StartOperation", operation });
    expect(operations.get("uid-machine")).toEqual({ kind: operation, state: "running" });
    expect(wake).not.toHaveBeenCalled();
    await clock.advance(0);
    expect(driver.calls).toEqual([call]);
    expect(wake).toHaveBeenCalledTimes(1);
    await act({ kind: "AcknowledgeOperation" });
    expect(operations.get("uid-machine")?.state).toBe(operation === "create" ? undefined : "failed");
  });

  it("are not made with a class that cannot be used", async () => {
    const { act, operations } = await setUp();
    await act({ kind: "StartOperation", operation: "create" }, { ...usable, view: unusable("X", "y") });
    expect(operations.get("uid-machine")).toBeUndefined();
  });
});

describe("writes", () => {
  it("of the machine are in the cache before the next pass", async () => {
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

  it("of the node are in the cache before the next pass", async () => {
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

  it("are refused where there is no target cluster: no decision asks for them there", async () => {
    const { act } = await setUp({ hasTarget: false });
    await expect(act({ kind: "PatchNode", name: "node", patch: {} })).rejects.toThrow("there is no target cluster");
    await expect(act({ kind: "DeleteNode", name: "node", uid: "u" })).rejects.toThrow("there is no target cluster");
    await expect(act(evict)).rejects.toThrow("there is no target cluster");
    await expect(act({ kind: "DeletePod", ...podRef, uid: "u" })).rejects.toThrow("there is no target cluster");
  });
});

describe("evictions", () => {
  it("go through the eviction subresource, for that very pod", async () => {
    const { act, api } = await setUp();
    await act(evict);
    expect(api.writes()).toMatchObject([
      {
        verb: "create",
        subresource: "eviction",
        key: "default/web",
        body: {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: podRef,
          deleteOptions: { preconditions: { uid: "uid-web" } },
        },
      },
    ]);
    expect(api.peek(podResource, podRef)).toBeUndefined();
  });

  it("are no failure when a budget says no, or the pod is gone", async () => {
    const { act, api } = await setUp();
    api.inject({ verb: "create", subresource: "eviction", error: tooManyRequestsError({ budget: "web" }) });
    await act(evict);
    expect(api.peek(podResource, podRef)).toBeDefined();
    api.remove(podResource, podRef);
    await act(evict);
  });

  it("fail with everything else", async () => {
    const { act, api } = await setUp();
    api.inject({ verb: "create", subresource: "eviction", error: serverError() });
    await expect(act(evict)).rejects.toMatchObject({ status: 500 });
  });
});

describe("deletions", () => {
  it("of pods leave no grace and mind the UID", async () => {
    const { act, api } = await setUp();
    const spy = vi.spyOn(api, "delete");
    await act({ kind: "DeletePod", ...podRef, uid: "uid-web" });
    expect(spy.mock.calls[0]?.[2]).toEqual({ uid: "uid-web", gracePeriodSeconds: 0 });
    expect(api.peek(podResource, podRef)).toBeUndefined();
  });

  it("of volume attachments use the defaults", async () => {
    const { act, api } = await setUp();
    const spy = vi.spyOn(api, "delete");
    await act({ kind: "DeleteVolumeAttachment", name: "va", uid: "uid-va" });
    expect(spy.mock.calls[0]?.[2]).toEqual({ uid: "uid-va" });
    expect(api.all(volumeAttachmentResource)).toEqual([]);
  });

  it("are done when there is nothing any more, and fail with everything else", async () => {
    const { act, api } = await setUp();
    await act({ kind: "DeletePod", namespace: "default", name: "gone", uid: "u" });
    await act({ kind: "DeleteVolumeAttachment", name: "gone", uid: "u" });
    api.inject({ verb: "delete", error: conflictError() });
    await expect(act({ kind: "DeletePod", ...podRef, uid: "uid-web" })).rejects.toMatchObject({ status: 409 });
  });
});

it("takes and gives back permits to be replaced", async () => {
  const { act, repairs } = await setUp();
  await act({ kind: "TakeReplacementPermit", uid: "uid-machine", group: "deployment pool" });
  expect(repairs.take).toHaveBeenCalledExactlyOnceWith("uid-machine", "deployment pool");
  await act({ kind: "ReleaseReplacementPermit", uid: "uid-machine" });
  expect(repairs.release).toHaveBeenCalledExactlyOnceWith("uid-machine");
});
