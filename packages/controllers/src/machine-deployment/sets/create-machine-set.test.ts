import { seededRandom } from "@millwright/base";
import { machineDeploymentResource, machineSetResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { ApiError, newControllerRef, createWriter } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { createControlCaches } from "../../cluster/caches.ts";
import { createLostOwners } from "../../ownership/lost-owners.ts";
import { aMachine, aMachineDeployment, beingDeleted, ownedBy, testNamespace } from "../../testing/builders.ts";
import { newMachineSet } from "./machine-set-shape.ts";
import { createMachineSetCreator } from "./create-machine-set.ts";

const bounds = { replicas: 3, maxSurge: 1, maxUnavailable: 0 };

/** A maker whose caches never saw anything. */
function setUp() {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const caches = createControlCaches({ api, clock, random: seededRandom(1), namespace: testNamespace });
  const deployment = api.seed(machineDeploymentResource, aMachineDeployment());
  const events = { record: () => {}, flush: async () => {}, close: () => {}, counts: () => ({ sent: 0, dropped: 0 }) };
  const deployments = createWriter({ api, type: machineDeploymentResource, store: caches.deployments.store });
  const sets = createWriter({ api, type: machineSetResource, store: caches.sets.store });
  const owners = createLostOwners({ control: api, namespace: testNamespace }, machineDeploymentResource, {
    getByRef: () => deployment,
    applyWrite: () => {},
  });
  const make = createMachineSetCreator({ control: api, caches, clock, events }, deployments, sets, owners);
  return { api, caches, deployment, make, set: newMachineSet(deployment, 3, 1, bounds) };
}

describe("machine set maker", () => {
  it("uses its own set that the cache has not seen yet", async () => {
    const { api, caches, deployment, make, set } = setUp();
    const stored = api.seed(machineSetResource, set);
    await make(deployment, set);
    expect(caches.sets.store.list()).toEqual([stored]);
    expect(api.writes().filter(({ verb }) => verb === "patch")).toEqual([]);
  });

  it("creates no set for a deployment that was paused meanwhile, and learns of the pause", async () => {
    const { api, caches, deployment, make, set } = setUp();
    const ref = { namespace: testNamespace, name: "pool" };
    const paused = await api.patch(machineDeploymentResource, ref, { spec: { paused: true } }, { kind: "merge" });
    await expect(make(deployment, set)).rejects.toThrow("machine deployment pool: it has changed");
    expect(api.all(machineSetResource)).toEqual([]);
    expect(caches.deployments.store.list()).toEqual([paused]);
  });

  it("creates a set for a deployment of which only the status was written meanwhile", async () => {
    const { api, deployment, make, set } = setUp();
    const ref = { namespace: testNamespace, name: "pool" };
    const status = { status: { replicas: 1 } };
    await api.patch(machineDeploymentResource, ref, status, { kind: "merge", subresource: "status" });
    await make(deployment, set);
    expect(api.all(machineSetResource)).toHaveLength(1);
  });

  describe("with a machine of a set that is not in the cache", () => {
    const setUpMachine = (owner: { readonly name?: string; readonly uid?: string } = {}) => {
      const { caches, api, set, ...made } = setUp();
      const former = api.seed(machineSetResource, { ...set, metadata: { ...set.metadata, name: "pool-former" } });
      const ownerReferences = [{ ...newControllerRef(machineSetResource, former), ...owner }];
      caches.machines.store.applyWrite(aMachine({ metadata: { ownerReferences } }));
      return { ...made, api, caches, set, former };
    };

    it("learns of that set, and creates no other one before", async () => {
      const { api, caches, deployment, make, set, former } = setUpMachine();
      await expect(make(deployment, set)).rejects.toThrow("machine set pool-former was not in the cache");
      expect(caches.sets.store.list()).toEqual([former]);
      expect(api.writes()).toEqual([]);
      await make(deployment, set);
      expect(api.all(machineSetResource)).toHaveLength(2);
    });

    it.each([
      ["was deleted", { name: "gone", uid: "uid-gone" }],
      ["was deleted, and whose name another one has", { uid: "uid-gone" }],
    ])("creates its set where that one %s", async (_, owner) => {
      const { api, deployment, make, set } = setUpMachine(owner);
      await make(deployment, set);
      expect(api.all(machineSetResource)).toHaveLength(2);
    });
  });

  it("does not use its own terminating set", async () => {
    const { api, deployment, make, set } = setUp();
    const { metadata } = beingDeleted();
    api.seed(machineSetResource, { ...set, metadata: { ...set.metadata, ...metadata, finalizers: ["x"] } });
    await expect(make(deployment, set)).rejects.toThrow("is taken; the next attempt uses another");
    expect(api.peek(machineDeploymentResource, { namespace: testNamespace, name: "pool" })?.["status"]).toEqual({
      collisionCount: 1,
    });
  });

  it.each([
    ["is adopted", {}],
    ["is terminating", beingDeleted().metadata],
  ])("waits for a restored set of its name that %s, and keeps the hash of its machines", async (_, metadata) => {
    const { api, caches, deployment, make, set } = setUp();
    const former = ownedBy(aMachineDeployment({ metadata: { uid: "former" } })).metadata;
    const restored = { ...set, metadata: { ...set.metadata, ...former, ...metadata, finalizers: ["x"] } };
    const stored = api.seed(machineSetResource, restored);
    await expect(make(deployment, set)).rejects.toThrow("is that of a restored machine set");
    expect(caches.sets.store.list()).toEqual([stored]);
    expect(api.writes().filter(({ verb }) => verb === "patch")).toEqual([]);
  });

  it.each<[string, string, number]>([
    ["reports why a set is rejected", "Quota", 1],
    ["reports no rejection in a terminating namespace", "NamespaceTerminating", 0],
  ])("%s", async (_, cause, writes) => {
    const { api, deployment, make, set } = setUp();
    const details = { causes: [{ reason: cause }] };
    api.inject({ verb: "create", error: new ApiError({ status: 403, reason: "Forbidden", message: "no", details }) });
    await expect(make(deployment, set)).rejects.toThrow("no");
    expect(api.writes().filter(({ verb }) => verb === "patch")).toHaveLength(writes);
  });
});
