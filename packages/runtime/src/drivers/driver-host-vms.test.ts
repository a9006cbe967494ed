import { type Driver, type DriverDefinition, MachineError } from "@millwright/core";
import { rejectionCodes } from "@millwright/core/driver-host";
import { describe, expect, it, test, vi } from "vitest";
import { aCall, host, machine, notFound, theVm, throwing, unaborted, wild } from "../testing/hosted-driver.ts";

describe("ensuring a VM", () => {
  type Trace = string[];
  /** A driver that writes down which methods were called. */
  const traced = (
    trace: Trace,
    change: Partial<DriverDefinition<unknown>> = {},
  ): Partial<DriverDefinition<unknown>> => ({
    getMachineStatus: (request, context) => {
      trace.push("status");
      return (change.getMachineStatus ?? notFound)(request, context);
    },
    createMachine: (request, context) => {
      trace.push("create");
      return (change.createMachine ?? theVm)(request, context);
    },
    initializeMachine: (request, context) => {
      trace.push(`initialize ${request.machine.providerId}`);
      return (change.initializeMachine ?? theVm)(request, context);
    },
  });
  const ensure = async (change?: Partial<DriverDefinition<unknown>>) => {
    const trace: Trace = [];
    const outcome = await host(traced(trace, change)).ensureVm(aCall(), unaborted);
    return { trace, outcome };
  };
  const vm = { providerId: "vm-1", nodeName: "node-1" };
  const made = { ok: true, value: { ...vm, isAdopted: false, needsInitialization: true } };
  const adopted = { ok: true, value: { ...vm, isAdopted: true } };

  it("reads first, creates it when there is none, and reports that it needs initialization", async () => {
    expect(await ensure()).toEqual({ trace: ["status", "create"], outcome: made });
  });

  it("creates it when the driver cannot read", async () => {
    const getMachineStatus = throwing(new MachineError("Unimplemented", "no"));
    expect((await ensure({ getMachineStatus })).trace).toEqual(["status", "create"]);
  });

  it("adopts the VM of an earlier attempt as it is", async () => {
    expect(await ensure({ getMachineStatus: theVm })).toEqual({ trace: ["status"], outcome: adopted });
    const initialized = async () => ({ ...(await theVm()), initialized: true });
    expect((await ensure({ getMachineStatus: initialized })).trace).toEqual(["status"]);
  });

  it("reports that an adopted VM needs initialization, when the driver has this step", async () => {
    const getMachineStatus = async () => ({ ...(await theVm()), initialized: false });
    const outcome = { ok: true, value: { ...adopted.value, needsInitialization: true } };
    expect(await ensure({ getMachineStatus })).toEqual({ trace: ["status"], outcome });
    expect(await host({ getMachineStatus }).ensureVm(aCall(), unaborted)).toEqual(adopted);
    expect(await host(traced([], { getMachineStatus })).findVm(aCall(), unaborted)).toEqual({
      ok: true,
      value: { ...vm, needsInitialization: true },
    });
  });

  it("makes no second VM when the look fails", async () => {
    for (const code of ["Unavailable", "OutOfRange", "Internal", "Uninitialized"] as const) {
      const { trace, outcome } = await ensure({ getMachineStatus: throwing(new MachineError(code, "x")) });
      expect(trace).toEqual(["status"]);
      expect(outcome).toMatchObject({ ok: false, error: { code } });
    }
  });

  it("has nothing to initialize where the driver has no such step", async () => {
    expect(await host({ createMachine: theVm }).ensureVm(aCall(), unaborted)).toEqual({
      ok: true,
      value: { ...vm, isAdopted: false },
    });
  });

  it("passes on addresses and last known state", async () => {
    const createMachine = async () => ({
      ...(await theVm()),
      addresses: [{ type: "InternalIP", address: "10.0.0.1", more: "x" }],
      lastKnownState: "op",
    });
    expect((await ensure({ createMachine })).outcome).toEqual({
      ok: true,
      value: { ...made.value, addresses: [{ type: "InternalIP", address: "10.0.0.1" }], lastKnownState: "op" },
    });
  });
});

describe("initializing a VM", () => {
  const known = { ...machine, spec: { ...machine.spec, providerID: "vm-1" } };
  const initialize = (change: Partial<DriverDefinition<unknown>>) =>
    host(change).initializeVm(aCall({ machine: known }), unaborted);

  it("asks for the VM whose id is stored, and passes on what is new of it", async () => {
    const asked: unknown[] = [];
    const outcome = await initialize({
      initializeMachine: async (request) => {
        asked.push(request.machine.providerId);
        return { ...(await theVm()), addresses: [{ type: "InternalIP", address: "10.0.0.1" }] };
      },
    });
    expect(asked).toEqual(["vm-1"]);
    const addresses = [{ type: "InternalIP", address: "10.0.0.1" }];
    expect(outcome).toEqual({ ok: true, value: { nodeName: "node-1", addresses } });
  });

  it("is done where the driver has no such step, or has not implemented it", async () => {
    const done = { ok: true, value: {} };
    expect(await initialize({})).toEqual(done);
    expect(await initialize({ initializeMachine: throwing(new MachineError("Unimplemented", "no")) })).toEqual(done);
  });

  it("fails with other errors of the driver", async () => {
    for (const code of ["NotFound", "Uninitialized", "Internal"] as const) {
      const outcome = await initialize({ initializeMachine: throwing(new MachineError(code, "x")) });
      expect(outcome).toMatchObject({ ok: false, error: { code } });
    }
  });

  it.each([
    ["nothing", undefined],
    ["an odd answer", { nodeName: 1, addresses: [{}] }],
  ])("does not depend on what it answers: %s", async (_, reply) => {
    expect(await initialize({ initializeMachine: wild(reply) })).toEqual({ ok: true, value: {} });
  });
});

describe("the token of an attempt", () => {
  const spentAfter = async (change: Partial<DriverDefinition<unknown>>) => {
    const outcome = await host(change).ensureVm(aCall(), unaborted);
    return outcome.ok ? undefined : outcome.error.tokenIsSpent;
  };
  const refusing = (thrown: unknown) => spentAfter({ createMachine: throwing(thrown) });

  test.each([...rejectionCodes])("is spent after %s", async (code) => {
    expect(await refusing(new MachineError(code, "no"))).toBe(true);
  });

  test.each([
    "Unknown",
    "DeadlineExceeded",
    "Aborted",
    "Unavailable",
    "Internal",
    "AlreadyExists",
    "OutOfRange",
  ] as const)("stays after %s: the VM may exist, or come yet", async (code) => {
    expect(await refusing(new MachineError(code, "no"))).toBeUndefined();
  });

  it("is spent when the driver reports that", async () => {
    expect(await refusing(new MachineError("Internal", "the VM came up broken", { tokenIsSpent: true }))).toBe(true);
  });

  it("stays when the driver broke, answered garbage or was not asked to make anything", async () => {
    expect(await refusing(new Error("boom"))).toBeUndefined();
    expect(await spentAfter({ createMachine: wild({}) })).toBeUndefined();
    expect(await spentAfter({ getMachineStatus: throwing(new MachineError("PermissionDenied", "x")) })).toBeUndefined();
  });
});

describe("finding and deleting a VM", () => {
  it("answers what the driver found", async () => {
    expect(await host({ getMachineStatus: theVm }).findVm(aCall(), unaborted)).toEqual({
      ok: true,
      value: { providerId: "vm-1", nodeName: "node-1" },
    });
    expect(await host().findVm(aCall(), unaborted)).toMatchObject({ ok: false, error: { code: "NotFound" } });
  });

  it("takes every end of a deletion for one, and a failure for a failure", async () => {
    for (const answer of [{}, undefined, null, "gone", { lastKnownState: 3 }]) {
      expect(await host({ deleteMachine: wild(answer) }).deleteVm(aCall(), unaborted)).toEqual({ ok: true, value: {} });
    }
    expect(await host({ deleteMachine: async () => ({ lastKnownState: "s" }) }).deleteVm(aCall(), unaborted)).toEqual({
      ok: true,
      value: { lastKnownState: "s" },
    });
    expect(await host({ deleteMachine: notFound }).deleteVm(aCall(), unaborted)).toMatchObject({
      ok: false,
      error: { code: "NotFound" },
    });
  });

  it("needs no user data", async () => {
    expect(await host().deleteVm(aCall({ secret: {} }), unaborted)).toMatchObject({ ok: true });
  });
});

describe("ids of volumes", () => {
  const specs = [{ csi: { driver: "x", volumeHandle: "vol-1" } }, { nfs: { server: "s" } }];
  const ask = (getVolumeIds: DriverDefinition<unknown>["getVolumeIds"]) =>
    host(getVolumeIds === undefined ? {} : { getVolumeIds }).volumeIds(aCall(), specs, unaborted);

  it("are asked for with the specs as they are, in one call, and foreign volumes have none", async () => {
    const getVolumeIds = vi.fn<Driver["getVolumeIds"]>(async () => ({ volumeIds: ["disk-1", undefined] }));
    expect(await ask(getVolumeIds)).toEqual({ ok: true, value: ["disk-1", null] });
    expect(getVolumeIds).toHaveBeenCalledOnce();
    expect(getVolumeIds.mock.calls[0]?.[0]).toEqual({ volumes: specs });
  });

  it("are not known to a driver without the method", async () => {
    expect(await ask(undefined)).toMatchObject({ ok: false, error: { code: "Unimplemented" } });
  });

  it.each([
    ["nothing", undefined],
    ["too few", { volumeIds: ["disk-1"] }],
    ["a value that is not a string", { volumeIds: ["disk-1", 7] }],
  ])("are refused when the driver answers %s: they could be those of other volumes", async (_, answer) => {
    expect(await ask(wild(answer))).toMatchObject({ ok: false, error: { code: "Internal" } });
  });

  it("keep no later call of the machine waiting when the driver never answers", async () => {
    const { clock, volumeIds, deleteVm } = host({ getVolumeIds: () => new Promise<never>(() => undefined) });
    const asked = volumeIds(aCall(), specs, unaborted);
    await clock.advance(5 * 60_000);
    expect(await asked).toMatchObject({ ok: false, error: { code: "DeadlineExceeded" } });
    expect(await deleteVm(aCall(), unaborted)).toMatchObject({ ok: true });
  });
});
