import { seededRandom } from "@millwright/base";
import type { ListedMachine } from "@millwright/core";
import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { ApiError } from "@millwright/kube";
import { createFakeApi, createServerHistory, type FakeApi, serverError } from "@millwright/kube/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createControlCaches } from "../cluster/caches.ts";
import type { VmCensus } from "../model/vm-census.ts";
import {
  aMachine,
  aMachineClass,
  beingDeleted,
  inPhase,
  named,
  refOf,
  testNamespace as namespace,
} from "../testing/builders.ts";
import type { VmListReader } from "../vm-lists/vm-lists.ts";
import { createVmCensus } from "./vm-census.ts";

const vm = (name: string): ListedMachine => ({ providerId: `mock:///${name}`, machineName: name });

describe("the census of VMs", () => {
  let clock: VirtualClock;
  let api: FakeApi;
  let stop: AbortController;
  let census: VmCensus;
  /** What single reads show; `api` has what lists show. */
  let live: FakeApi;
  let rewinds: (string | undefined)[];
  let requested: string[];
  let changed: string[];
  let read: VmListReader;
  let fail: (className: string) => void;

  beforeEach(async () => {
    clock = createVirtualClock();
    api = createFakeApi({ clock });
    live = createFakeApi({ clock });
    stop = new AbortController();
    requested = [];
    changed = [];
    api.seed(machineClassResource, aMachineClass());
    const caches = createControlCaches({ api, clock, random: seededRandom(1), namespace });
    const history = createServerHistory(clock);
    rewinds = [];
    history.onRewind(({ kind }) => void rewinds.push(kind));
    await clock.advance(600_000);
    census = createVmCensus(
      { caches, namespace, clock, control: { ...live, history } },
      {
        onList: (reader) => void (read = reader),
        onFailure: (listener) => void (fail = listener),
        request: ({ metadata }) => void requested.push(metadata.name),
      },
      ({ provider }) => provider === "mock",
    );
    census.onChange((name) => void changed.push(name));
    for (const cache of [caches.machines, caches.classes]) void cache.run(stop.signal);
    await settle();
  });
  afterEach(() => stop.abort());

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const known = aMachine(named("known"), { spec: { providerID: "mock:///known" } }, inPhase("Running"));
  const listOf = (machines: readonly Machine[], ...names: readonly string[]): Promise<void> =>
    read(
      { machineClass: aMachineClass(), secret: {}, vms: names.map(vm), startedMs: clock.monotonicMs(), machines },
      stop.signal,
    );
  const list = (...names: readonly string[]): Promise<void> => listOf([], ...names);

  it("waits for the first list, once, and reports it", async () => {
    expect(census.ownerless("small", 2)).toEqual({ state: "listing", forMs: 60_000 });
    await clock.advance(10_000);
    expect(census.ownerless("small", 2)).toEqual({ state: "listing", forMs: 50_000 });
    expect(changed).toEqual([]);
    await list("a", "b");
    expect(changed).toEqual(["small"]);
    expect(census.ownerless("small", 2)).toEqual({ state: "known", count: 2 });
  });

  it("requests no list where the last one shows too few VMs without Machine", async () => {
    api.seed(machineResource, aMachine(named("a"), { spec: { providerID: "mock:///a" } }, inPhase("Running")));
    await settle();
    await list("a", "b");
    expect(census.ownerless("small", 2)).toEqual({ state: "known", count: 1 });
    expect([requested, changed]).toEqual([[], []]);
  });

  it("believes only a list that is newer than the creation", async () => {
    await list("a", "b");
    await clock.advance(600_000);
    expect(census.ownerless("small", 2)).toEqual({ state: "listing", forMs: 60_000 });
    expect(requested).toEqual(["small"]);
    await list("a");
    expect(census.ownerless("small", 2)).toEqual({ state: "known", count: 1 });
    // A later creation needs a later list.
    await list("a", "b");
    await clock.advance(130_000);
    expect(census.ownerless("small", 2).state).toBe("listing");
  });

  it.each(["small", "other"])("forgets VMs whose Machine, of class %s, was deleted with them", async (className) => {
    const description = "Drain successful. Initiate VM deletion";
    const status = { lastOperation: { type: "Delete", description } } as const;
    for (const name of ["a", "b"])
      api.seed(
        machineResource,
        aMachine(
          named(name),
          { spec: { providerID: `mock:///${name}`, class: { kind: "MachineClass", name: className } } },
          inPhase("Terminating"),
          beingDeleted(),
          { status },
        ),
      );
    await settle();
    await list("a", "b");
    for (const name of ["a", "b"])
      await api.patch(machineResource, refOf(name), { metadata: { finalizers: null } }, { kind: "merge" });
    await settle();
    expect(census.ownerless("small", 1)).toEqual({ state: "known", count: 0 });
  });

  it("does not wait for a list that fails, nor longer than a minute", async () => {
    expect(census.ownerless("small", 1).state).toBe("listing");
    fail("small");
    expect(changed).toEqual(["small"]);
    expect(census.ownerless("small", 1)).toEqual({ state: "known", count: 0 });
    await clock.advance(130_000);
    expect(census.ownerless("small", 1).state).toBe("listing");
    await clock.advance(60_000);
    expect(census.ownerless("small", 1)).toEqual({ state: "known", count: 0 });
    fail("other");
  });

  it("knows that no VM is without Machine from a list that began a minute after the question only", async () => {
    api.seed(machineResource, known);
    await settle();
    await listOf([known], "known");
    expect(census.hasNoOwnerless("small")).toBe(false);
    expect(requested).toEqual(["small"]);
    await clock.advance(59_000);
    await listOf([known], "known");
    expect([census.hasNoOwnerless("small"), changed]).toEqual([false, ["small"]]);
    await clock.advance(1_000);
    await listOf([known], "known", "a");
    expect(census.hasNoOwnerless("small")).toBe(false);
    await listOf([known], "known");
    expect(census.hasNoOwnerless("small")).toBe(true);
    // What is asked again after a long time needs a later list.
    await clock.advance(130_000);
    expect(census.hasNoOwnerless("small")).toBe(false);
    expect(census.hasNoOwnerless("unknown")).toBe(false);
  });

  it.each([
    ["lacks the VM of a Machine", [known]],
    ["cannot be compared with a Machine", []],
  ])("does not know it from a list that %s", async (_, machines) => {
    api.seed(machineResource, known);
    await settle();
    expect(census.hasNoOwnerless("small")).toBe(false);
    await clock.advance(60_000);
    await listOf(machines);
    expect(census.hasNoOwnerless("small")).toBe(false);
  });

  it("has everything listed again when a VM names a Machine that exists, but is not in the cache, and waits until it is", async () => {
    const machine = aMachine(named("b"), { spec: { providerID: "mock:///b" } }, inPhase("Running"));
    live.seed(machineResource, machine);
    await list("a", "b");
    expect(rewinds).toEqual(["incomplete list"]);
    expect(changed).toEqual([]);
    await clock.advance(300_000);
    expect(census.ownerless("small", 1)).toEqual({ state: "listing", forMs: 10_000 });
    expect(requested).toEqual(["small"]);
    api.seed(machineResource, machine);
    await settle();
    expect(census.ownerless("small", 2)).toMatchObject({ state: "listing", forMs: 60_000 });
    await list("a", "b");
    expect(census.ownerless("small", 1)).toEqual({ state: "known", count: 1 });
  });

  it("believes a later list when the Machine was deleted, and one of those who may not read Machines", async () => {
    live.seed(machineResource, aMachine(named("b"), { metadata: { finalizers: null } }));
    await list("b");
    await live.delete(machineResource, refOf("b"));
    await list("b");
    expect(census.ownerless("small", 2)).toEqual({ state: "known", count: 1 });
    live.inject({ verb: "get", error: new ApiError({ status: 403, reason: "Forbidden", message: "no" }) });
    await list("b");
    live.inject({ verb: "get", error: serverError() });
    await expect(list("b")).rejects.toThrow(serverError().message);
    expect(rewinds).toHaveLength(1);
  });

  it("knows no VMs of a class that does not exist, or whose driver lists none", async () => {
    expect(census.ownerless("none", 1)).toEqual({ state: "known", count: 0 });
    api.seed(machineClassResource, aMachineClass(named("big"), { provider: "other" }));
    await settle();
    expect(census.ownerless("big", 1)).toEqual({ state: "known", count: 0 });
  });

  it("believes no list from before a Machine went that had a VM, which may be newer than the list", async () => {
    await list();
    await clock.advance(1);
    expect(census.lostOf("small", "set").state).toBe("listing");
    await list();
    expect(census.lostOf("small", "set")).toEqual({ state: "known", count: 0 });
    api.seed(machineResource, aMachine(named("set-a"), inPhase("Running"), { metadata: { finalizers: null } }));
    await settle();
    await api.delete(machineResource, refOf("set-a"));
    await settle();
    expect(census.lostOf("small", "set").state).toBe("listing");
    expect(census.ownerless("small", 2).state).toBe("listing");
    await list("set-a", "set-b");
    expect(census.lostOf("small", "set")).toEqual({ state: "known", count: 2 });
    expect(census.ownerless("small", 2)).toEqual({ state: "known", count: 2 });
  });

  it("starts again with a class that was created again", async () => {
    await list("a");
    await api.delete(machineClassResource, refOf("small"));
    api.seed(machineClassResource, aMachineClass({ metadata: { uid: "another" } }));
    await settle();
    expect(census.ownerless("small", 2).state).toBe("listing");
  });
});
