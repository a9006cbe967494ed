import type { ListedMachine } from "@millwright/core";
import { annotationKeys, type MachineClass, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { DriverOutcome } from "../model/driver-port.ts";
import type { OperationResult, PendingOperation } from "../model/operation.ts";
import { createDeletionBudget } from "../deletion-budget/deletion-budget.ts";
import { aMachine, aMachineClass, inPhase, named, refOf } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import type { VmListReader, VmLists } from "../vm-lists/vm-lists.ts";
import { collectOrphans } from "./collector.ts";

const MINUTE = 60_000;
const names = ["a", "b", "c", "d"];
const vmOf = (name: string): ListedMachine => ({
  providerId: `vm-${name}`,
  machineName: name,
  machineUid: `uid-${name}`,
});

type Outcome = DriverOutcome<OperationResult | PendingOperation>;
type Cluster = ReturnType<typeof createTestCluster>;

/** A collector with four machines, whose lists come when the test makes them. */
async function aCollector(
  change: (api: Cluster["api"]) => Partial<Cluster["api"]> = () => ({}),
  enterOrphanVm: (className: string) => boolean = () => true,
) {
  const { api, clock, newContext, run } = createTestCluster();
  api.seed(machineClassResource, aMachineClass());
  for (const name of names)
    api.seed(machineResource, aMachine(named(name), { spec: { providerID: `vm-${name}` } }, inPhase("Running")));
  const state = { isCurrent: true };
  const { caches, ...rest } = newContext();
  const machines = { ...caches.machines, isCurrent: () => state.isCurrent };
  const events: string[] = [];
  const context = {
    ...rest,
    deletionBudget: { ...createDeletionBudget({ caches, ...rest, maxDeletionShare: undefined }), enterOrphanVm },
    control: { ...api, ...change(api) },
    caches: { ...caches, machines },
    events: {
      ...rest.events,
      record: (_: unknown, { reason }: { readonly reason: string }) => void events.push(reason),
    },
  };
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await run(context, stop.signal);
  const deleteVm = vi.fn<
    (call: { readonly machine: { readonly spec: { readonly providerID?: string | null } } }) => Promise<Outcome>
  >(async () => ({ ok: true, value: {} }));
  const request = vi.fn<VmLists["request"]>();
  const readers: VmListReader[] = [];
  const times = { periodMs: 15 * MINUTE, minIntervalMs: MINUTE, confirmAfterMs: 6 * MINUTE };
  const times20 = { minAgeMs: 20 * MINUTE, quarantineMs: 15 * MINUTE, drainTimeoutMs: 120 * MINUTE };
  const lists = { times, request, onList: (reader: VmListReader) => void readers.push(reader) };
  collectOrphans(context, { deleteVm }, lists, { mode: "collect", ...times20 });
  const classNamed = (name: string): MachineClass =>
    caches.classes.store.getByRef(refOf(name)) ?? aMachineClass(named(name));
  const list = async (
    lost: readonly string[],
    { machineClass = classNamed("small"), signal = stop.signal, owned = names } = {},
  ): Promise<void> => {
    const vms = [...owned, ...lost].map(vmOf);
    const call = { machineClass, secret: {}, vms, startedMs: clock.monotonicMs(), machines: [] };
    for (const read of readers) await read(call, signal);
    await clock.advance(10);
  };
  /** Lists until the VMs are due for deletion, and leaves the last list to the test. */
  const quarantine = async (...lost: readonly string[]): Promise<void> => {
    await list(lost);
    await clock.advance(21 * MINUTE);
    await list(lost);
    await clock.advance(16 * MINUTE);
  };
  const record = (name = "small") =>
    api.peek<MachineClass>(machineClassResource, refOf(name))?.metadata.annotations?.[annotationKeys.orphanVms];
  const deleted = () => deleteVm.mock.calls.map(([{ machine }]) => machine.spec.providerID);
  return { api, clock, state, events, deleteVm, request, classNamed, list, quarantine, record, deleted };
}

describe("a VM without machine is kept", () => {
  it("unless all is well", async () => {
    const { events, quarantine, list, deleted, request } = await aCollector();
    await quarantine("lost");
    expect(request).toHaveBeenCalledWith(expect.anything(), 15 * MINUTE);
    await list(["lost"]);
    expect([deleted(), events]).toEqual([["vm-lost"], ["OrphanVMFound", "OrphanVMDeleted"]]);
  });

  it("when there are much fewer machines than at the last list", async () => {
    const { api, clock, list, record } = await aCollector();
    await list(["lost"]);
    for (const name of ["a", "b", "c"]) api.remove(machineResource, refOf(name));
    await clock.advance(21 * MINUTE);
    await list(["lost"]);
    expect(record()).toBeUndefined();
  });

  it("when the deletion budget has no room, until it has", async () => {
    let room = 1;
    const classes: string[] = [];
    const { quarantine, list, deleted } = await aCollector(undefined, (className) => {
      classes.push(className);
      return room-- > 0;
    });
    await quarantine("lost", "other");
    await list(["lost", "other"]);
    expect([deleted(), classes]).toEqual([["vm-lost"], ["small", "small"]]);
    room = 1;
    await list(["other"]);
    expect(deleted()).toEqual(["vm-lost", "vm-other"]);
  });

  it("when the API server lists much fewer machines than the cache has", async () => {
    const { quarantine, list, deleted } = await aCollector((api) => ({
      list: async (type, options, call) => {
        const answer = await api.list<never>(type, options, call);
        return type.kind === "Machine" ? { ...answer, items: answer.items.slice(0, 1) } : answer;
      },
    }));
    await quarantine("lost");
    await list(["lost"]);
    expect(deleted()).toEqual([]);
  });

  it("when the API server lists a machine that cannot be read", async () => {
    const { quarantine, list, deleted } = await aCollector((api) => ({
      list: async (type, options, call) => {
        const answer = await api.list<never>(type, options, call);
        const odd = { metadata: { ...refOf("odd"), uid: "uid-odd" }, spec: "none" };
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is its point
        return type.kind === "Machine" ? { ...answer, items: [...answer.items, odd as never] } : answer;
      },
    }));
    await quarantine("lost");
    await list(["lost"]);
    expect(deleted()).toEqual([]);
  });

  it("when the cache of machines is found to be outdated right before the deletion", async () => {
    let isLate = false;
    const { state, quarantine, list, deleted } = await aCollector((api) => ({
      get: async (type, ref, options) => {
        if (isLate) state.isCurrent = false;
        return api.get<never>(type, ref, options);
      },
    }));
    await quarantine("lost");
    isLate = true;
    await list(["lost"]);
    expect(deleted()).toEqual([]);
  });

  it("when the list is of an earlier class of that name", async () => {
    const { clock, classNamed, list, record } = await aCollector();
    const machineClass = { ...classNamed("small"), metadata: { ...classNamed("small").metadata, uid: "earlier" } };
    await list(["lost"], { machineClass });
    await clock.advance(21 * MINUTE);
    await list(["lost"], { machineClass });
    expect(record()).toBeUndefined();
  });
});

describe("the deletion of VMs without machine", () => {
  it("counts a VM once for its rate, however often it is repeated", async () => {
    const { clock, deleteVm, quarantine, list, deleted } = await aCollector();
    const pending = { ok: true, value: { pending: { message: "wiping", checkAfterMs: MINUTE } } } as const;
    deleteVm.mockImplementation(async () => pending);
    await quarantine("slow", "other");
    for (let time = 0; time < 15; time++) await list(["slow"]);
    expect(deleted()).toHaveLength(15);
    await list(["slow", "other"]);
    await clock.advance(21 * MINUTE);
    await list(["slow", "other"]);
    await clock.advance(16 * MINUTE);
    await list(["slow", "other"]);
    expect(deleted()).toContain("vm-other");
  });

  it("reports nothing of a call that was aborted", async () => {
    const { events, deleteVm, quarantine, list } = await aCollector();
    await quarantine("lost");
    const abort = new AbortController();
    deleteVm.mockImplementation(async () => {
      abort.abort(new Error("stopped"));
      return { ok: true, value: {} };
    });
    await list(["lost"], { signal: abort.signal });
    expect(events).toEqual(["OrphanVMFound"]);
  });

  it("leaves to another class the VMs that a deleted class listed", async () => {
    const { api, clock, list, record } = await aCollector();
    await list(["lost"]);
    api.seed(machineClassResource, aMachineClass(named("zone-b")));
    api.remove(machineClassResource, refOf("small"));
    await clock.advance(MINUTE);
    const other = async () =>
      list(["lost"], {
        machineClass: api.peek<MachineClass>(machineClassResource, refOf("zone-b")) ?? aMachineClass(),
      });
    await other();
    await clock.advance(21 * MINUTE);
    await other();
    expect(record("zone-b")).toContain("vm-lost");
  });
});
