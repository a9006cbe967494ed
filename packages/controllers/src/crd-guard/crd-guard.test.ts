import { seededRandom } from "@millwright/base";
import {
  annotationKeys,
  type Machine,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { ApiError, customResourceDefinitionResource, type Log, createWriter } from "@millwright/kube";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ControlCaches, createControlCaches } from "../cluster/caches.ts";
import { aMachine, aMachineSet, beingDeleted, named, ownedBy, refOf, testNamespace } from "../testing/builders.ts";
import { createCrdGuard, kindsOf } from "./crd-guard.ts";
import { type CrdGuard } from "../model/crd-guard.ts";
import { crdName } from "../model/crd-state.ts";

const machines = crdName("Machine");
const sets = crdName("MachineSet");

describe("the CRD guard", () => {
  let clock: VirtualClock;
  let api: FakeApi;
  let stop: AbortController;
  let caches: ControlCaches;
  let lines: string[];
  const log: Log = (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);

  beforeEach(() => {
    clock = createVirtualClock();
    api = createFakeApi({ clock });
    stop = new AbortController();
    lines = [];
  });
  afterEach(() => stop.abort());

  const settle = async (ms = 0): Promise<void> => {
    for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (ms > 0) {
      await clock.advance(ms);
      await settle();
    }
  };
  const declare = (name: string): void =>
    void api.seed(customResourceDefinitionResource, {
      metadata: { name, creationTimestamp: "2026-01-01T00:00:00Z", finalizers: ["cleanup"] },
    });
  const start = async (): Promise<CrdGuard> => {
    const options = { api, clock, random: seededRandom(3), log };
    caches = createControlCaches({ ...options, namespace: testNamespace });
    const guard = createCrdGuard(options, [caches.machines.store, caches.sets.store]);
    void guard.run(stop.signal);
    for (const cache of [caches.machines, caches.sets]) void cache.run(stop.signal);
    await settle();
    await guard.synced(stop.signal);
    return guard;
  };
  const machine = (name: string): Machine => {
    const found = caches.machines.store.getByRef(refOf(name));
    if (found === undefined) throw new Error(`there is no machine ${name}`);
    return found;
  };
  const reads = (): number => api.calls.filter(({ verb }) => verb === "get").length;
  const forbidden = new ApiError({ status: 403, reason: "Forbidden", message: "may not" });

  it("reads the CRD once for all deletions that were observed before, and again for later ones", async () => {
    declare(machines);
    for (const name of ["a", "b", "c"]) api.seed(machineResource, aMachine(named(name), beingDeleted()));
    api.seed(machineResource, aMachine(named("late"), { metadata: { finalizers: ["x"] } }));
    const guard = await start();
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toEqual({ verdict: "unknown" });
    await guard.refresh("Machine", machine("a"));
    for (const name of ["a", "b", "c"])
      expect(guard.deletionVerdictOf("Machine", machine(name), false)).toEqual({ verdict: "proceed" });
    expect(reads()).toBe(1);
    await api.delete(machineResource, refOf("late"));
    await settle();
    expect(guard.deletionVerdictOf("Machine", machine("late"), false)).toEqual({ verdict: "unknown" });
  });

  it("rules nothing out for a deletion that was observed while the CRD was read", async () => {
    declare(machines);
    api.seed(machineResource, aMachine(named("a"), beingDeleted()));
    api.seed(machineResource, aMachine(named("late"), { metadata: { finalizers: ["x"] } }));
    const guard = await start();
    const get = api.get.bind(api);
    vi.spyOn(api, "get").mockImplementationOnce(async (type, ref, options) => {
      const crd = await get<never>(type, ref, options);
      await api.delete(machineResource, refOf("late"));
      await settle();
      return crd;
    });
    await guard.refresh("Machine", machine("a"));
    const verdicts = ["a", "late"].map((name) => guard.deletionVerdictOf("Machine", machine(name), false).verdict);
    expect(verdicts).toEqual(["proceed", "unknown"]);
    // A later change of the object must not count as a deletion.
    api.change(machineResource, refOf("a"), { metadata: { labels: { x: "y" } } });
    await settle();
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toEqual({ verdict: "proceed" });
  });

  it("takes a deletion of its own process without an answer for one that was carried out", async () => {
    declare(machines);
    api.seed(machineResource, aMachine(named("a"), { metadata: { finalizers: ["x"] } }));
    const guard = await start();
    const writer = createWriter<Machine>({
      api,
      type: machineResource,
      store: caches.machines.store,
      deletions: guard,
    });
    const unanswered = new ApiError({ status: 0, reason: "ClientTimeout", message: "no answer" });
    api.inject({ verb: "delete", error: unanswered, phase: "after" });
    await expect(writer.delete(refOf("a"), machine("a").metadata.uid ?? "")).rejects.toThrow("no answer");
    await settle();
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toEqual({ verdict: "proceed" });
    expect(reads()).toBe(0);
  });

  it("pauses a machine whose deletion was observed before that of the CRD", async () => {
    declare(machines);
    api.seed(machineResource, aMachine(named("a"), { metadata: { finalizers: ["x"] } }));
    const guard = await start();
    // The watch of CRDs is late.
    const late = new ApiError({ status: 500, reason: "InternalError", message: "late" });
    for (const verb of ["watch", "list"] as const)
      api.inject({ verb, type: customResourceDefinitionResource, error: late, times: 100 });
    api.endWatches();
    await settle();
    await api.delete(customResourceDefinitionResource, { name: machines });
    await api.delete(machineResource, refOf("a"));
    await settle(3_000);
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toEqual({ verdict: "unknown" });
    await guard.refresh("Machine", machine("a"));
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toMatchObject({
      verdict: "paused",
      crd: { name: machines, state: "terminating" },
    });
  });

  it("reads no CRD for deletions of its own process, unless the API server rejected them", async () => {
    declare(machines);
    for (const name of ["a", "b"])
      api.seed(machineResource, aMachine(named(name), { metadata: { finalizers: ["x"] } }));
    const guard = await start();
    const { store } = caches.machines;
    const writer = createWriter<Machine>({ api, type: machineResource, store, deletions: guard });
    await writer.delete(refOf("a"), machine("a").metadata.uid ?? "");
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toEqual({ verdict: "proceed" });
    api.inject({ verb: "delete", error: forbidden });
    await expect(writer.delete(refOf("b"), machine("b").metadata.uid ?? "")).rejects.toThrow("may not");
    await api.delete(machineResource, refOf("b"));
    await settle();
    expect(guard.deletionVerdictOf("Machine", machine("b"), false)).toEqual({ verdict: "unknown" });
    expect(reads()).toBe(0);
  });

  it("reports each change of a CRD once, follows its annotation, and remembers it when it is deleted", async () => {
    declare(machines);
    api.seed(machineResource, aMachine(named("a"), beingDeleted()));
    const guard = await start();
    const changes: string[] = [];
    guard.onChange((kind) => changes.push(`${kind} ${guard.stateOf(kind).state}`));
    expect(guard.stateOf("Machine")).toMatchObject({ state: "established" });
    expect(guard.stateOf("MachineSet")).toEqual({ name: sets, state: "unknown" });
    await api.delete(customResourceDefinitionResource, { name: machines });
    await settle();
    const annotate = { metadata: { annotations: { [annotationKeys.allowCrdDeletion]: "true" } } };
    await api.patch(customResourceDefinitionResource, { name: machines }, annotate, { kind: "merge" });
    await settle();
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toEqual({ verdict: "proceed" });
    const finalizers = { metadata: { finalizers: null } };
    await api.patch(customResourceDefinitionResource, { name: machines }, finalizers, { kind: "merge" });
    await settle();
    expect(guard.stateOf("Machine")).toEqual({ name: machines, state: "deleted" });
    await guard.refresh("Machine", machine("a"));
    expect(guard.deletionVerdictOf("Machine", machine("a"), false).verdict).toBe("paused");
    declare(machines);
    await settle();
    expect(changes).toEqual(["Machine terminating", "Machine terminating", "Machine deleted", "Machine established"]);
    expect(lines.map((line) => line.slice(0, line.indexOf(" {")))).toEqual([
      "warn A CustomResourceDefinition is being deleted; deletions of its objects and their VMs are paused",
      "warn A CustomResourceDefinition is being deleted; its annotation allows to delete its objects and VMs",
      "warn A CustomResourceDefinition was deleted",
      "info A CustomResourceDefinition was recreated",
    ]);
  });

  it("works as MCM does where CRDs cannot be read, and logs the missing right once", async () => {
    const always = { error: forbidden, times: 100 };
    for (const verb of ["list", "watch", "get"] as const)
      api.inject({ verb, type: customResourceDefinitionResource, ...always });
    api.seed(machineResource, aMachine(named("a"), beingDeleted()));
    const guard = await start();
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toEqual({ verdict: "proceed" });
    const logged = lines.filter((line) => line.includes("Cannot read CustomResourceDefinitions"));
    expect(logged).toEqual([
      expect.stringContaining("get, list, watch customresourcedefinitions.apiextensions.k8s.io"),
    ]);
  });

  it("decides nothing while the API server does not respond", async () => {
    declare(machines);
    api.seed(machineResource, aMachine(named("a"), beingDeleted()));
    const guard = await start();
    const broken = new ApiError({ status: 500, reason: "InternalError", message: "broken" });
    api.inject({ verb: "get", error: broken });
    await expect(guard.refresh("Machine", machine("a"))).rejects.toThrow("broken");
    expect(guard.deletionVerdictOf("Machine", machine("a"), false)).toEqual({ verdict: "unknown" });
  });

  it("considers the CRD of an object's controller too", () => {
    const set = aMachineSet();
    expect(kindsOf("Machine", aMachine(named("a"), ownedBy(set)))).toEqual(["Machine", "MachineSet"]);
    expect(kindsOf("Machine", aMachine(named("a")))).toEqual(["Machine"]);
    const stranger: MachineSet = aMachineSet({
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Other", name: "o", uid: "u", controller: true }] },
    });
    expect(kindsOf("MachineSet", stranger)).toEqual(["MachineSet"]);
    expect(machineSetResource.plural).toBe("machinesets");
  });
});
