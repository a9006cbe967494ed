import {
  annotationKeys,
  type Machine,
  machineResource,
  type MachineSet,
  machineSetResource,
  seededRandom,
} from "@millwright/core";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { ApiError, customResourceDefinitionResource, type Log } from "@millwright/kube";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlCaches, createControlCaches } from "../cluster/caches.ts";
import { createWriter } from "../cluster/writer.ts";
import { aMachine, aMachineSet, beingDeleted, named, ownedBy, refOf, testNamespace } from "../testing/builders.ts";
import { createCrdGuard, kindsOf } from "./crd-guard.ts";
import { type CrdGuard } from "../model/crd-guard.ts";
import { createCrdWatch } from "./crd-watch.ts";
import { definitionName } from "../model/crd-state.ts";

const machines = definitionName("Machine");
const sets = definitionName("MachineSet");

describe("the guard of deletions", () => {
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
    const watch = createCrdWatch(options);
    const guard = createCrdGuard(watch, [caches.machines.store, caches.sets.store]);
    void watch.run(stop.signal);
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
  const questions = (): number => api.calls.filter(({ verb }) => verb === "get").length;
  const refusal = new ApiError({ status: 403, reason: "Forbidden", message: "may not" });

  it("asks once about all deletions that were seen before, and about later ones anew", async () => {
    declare(machines);
    for (const name of ["a", "b", "c"]) api.seed(machineResource, aMachine(named(name), beingDeleted()));
    api.seed(machineResource, aMachine(named("late"), { metadata: { finalizers: ["x"] } }));
    const guard = await start();
    expect(guard.holdOf("Machine", machine("a"), false)).toEqual({ verdict: "ask" });
    await guard.ask("Machine", machine("a"));
    for (const name of ["a", "b", "c"])
      expect(guard.holdOf("Machine", machine(name), false)).toEqual({ verdict: "goes" });
    expect(questions()).toBe(1);
    await api.delete(machineResource, refOf("late"));
    await settle();
    expect(guard.holdOf("Machine", machine("late"), false)).toEqual({ verdict: "ask" });
  });

  it("holds a machine whose deletion was seen before that of the definition", async () => {
    declare(machines);
    api.seed(machineResource, aMachine(named("a"), { metadata: { finalizers: ["x"] } }));
    const guard = await start();
    // The watch of definitions is late.
    const late = new ApiError({ status: 500, reason: "InternalError", message: "late" });
    for (const verb of ["watch", "list"] as const)
      api.inject({ verb, type: customResourceDefinitionResource, error: late, times: 100 });
    api.endWatches();
    await settle();
    await api.delete(customResourceDefinitionResource, { name: machines });
    await api.delete(machineResource, refOf("a"));
    await settle(3_000);
    expect(guard.holdOf("Machine", machine("a"), false)).toEqual({ verdict: "ask" });
    await guard.ask("Machine", machine("a"));
    expect(guard.holdOf("Machine", machine("a"), false)).toMatchObject({
      verdict: "held",
      definition: { name: machines, state: "going" },
    });
  });

  it("asks nothing about deletions of its own process, unless the server refused them", async () => {
    declare(machines);
    for (const name of ["a", "b"])
      api.seed(machineResource, aMachine(named(name), { metadata: { finalizers: ["x"] } }));
    const guard = await start();
    const { store } = caches.machines;
    const writer = createWriter<Machine>({ api, type: machineResource, store, definitions: guard });
    await writer.delete(refOf("a"), machine("a").metadata.uid ?? "");
    expect(guard.holdOf("Machine", machine("a"), false)).toEqual({ verdict: "goes" });
    api.inject({ verb: "delete", error: refusal });
    await expect(writer.delete(refOf("b"), machine("b").metadata.uid ?? "")).rejects.toThrow("may not");
    await api.delete(machineResource, refOf("b"));
    await settle();
    expect(guard.holdOf("Machine", machine("b"), false)).toEqual({ verdict: "ask" });
    expect(questions()).toBe(0);
  });

  it("tells each change of a definition once, follows what people write on it, and forgets nothing when it is gone", async () => {
    declare(machines);
    api.seed(machineResource, aMachine(named("a"), beingDeleted()));
    const guard = await start();
    const changes: string[] = [];
    guard.onChange((kind) => changes.push(`${kind} ${guard.stateOf(kind).state}`));
    expect(guard.stateOf("Machine")).toMatchObject({ state: "standing" });
    expect(guard.stateOf("MachineSet")).toEqual({ name: sets, state: "unguarded" });
    await api.delete(customResourceDefinitionResource, { name: machines });
    await settle();
    const annotate = { metadata: { annotations: { [annotationKeys.allowCrdDeletion]: "true" } } };
    await api.patch(customResourceDefinitionResource, { name: machines }, annotate, { kind: "merge" });
    await settle();
    expect(guard.holdOf("Machine", machine("a"), false)).toEqual({ verdict: "goes" });
    const finalizers = { metadata: { finalizers: null } };
    await api.patch(customResourceDefinitionResource, { name: machines }, finalizers, { kind: "merge" });
    await settle();
    expect(guard.stateOf("Machine")).toEqual({ name: machines, state: "gone" });
    await guard.ask("Machine", machine("a"));
    expect(guard.holdOf("Machine", machine("a"), false).verdict).toBe("held");
    declare(machines);
    await settle();
    expect(changes).toEqual(["Machine going", "Machine going", "Machine gone", "Machine standing"]);
    expect(lines.map((line) => line.slice(0, line.indexOf(" {")))).toEqual([
      "warn A CustomResourceDefinition is being deleted; its objects and their VMs are held",
      "warn A CustomResourceDefinition is being deleted; its objects and their VMs go with it, as its annotation says",
      "warn A CustomResourceDefinition is gone",
      "info A CustomResourceDefinition is there again",
    ]);
  });

  it("goes on as MCM does where definitions may not be read, and says once which right is missing", async () => {
    const forbidden = { error: refusal, times: 100 };
    for (const verb of ["list", "watch", "get"] as const)
      api.inject({ verb, type: customResourceDefinitionResource, ...forbidden });
    api.seed(machineResource, aMachine(named("a"), beingDeleted()));
    const guard = await start();
    expect(guard.holdOf("Machine", machine("a"), false)).toEqual({ verdict: "goes" });
    const said = lines.filter((line) => line.includes("CustomResourceDefinitions cannot be read"));
    expect(said).toEqual([expect.stringContaining("get, list, watch customresourcedefinitions.apiextensions.k8s.io")]);
  });

  it("rather does nothing than the wrong thing while the server does not answer", async () => {
    declare(machines);
    api.seed(machineResource, aMachine(named("a"), beingDeleted()));
    const guard = await start();
    const broken = new ApiError({ status: 500, reason: "InternalError", message: "broken" });
    api.inject({ verb: "get", error: broken });
    await expect(guard.ask("Machine", machine("a"))).rejects.toThrow("broken");
    expect(guard.holdOf("Machine", machine("a"), false)).toEqual({ verdict: "ask" });
  });

  it("looks at the definition of what controls an object as well", () => {
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
