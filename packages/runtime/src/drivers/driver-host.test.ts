import { inspect } from "node:util";
import {
  type CreateMachineRequest,
  type Driver,
  type DriverContext,
  type DriverDefinition,
  type Machine,
  type MachineClass,
  MachineError,
  type MachineRequest,
  refusalCodes,
  Secret,
} from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import type { CreateVmCall } from "@millwright/controllers";
import type { Log } from "@millwright/kube";
import { describe, expect, it, test, vi } from "vitest";
import { aDriver, schema } from "../testing/fake-driver.ts";
import { createDriverHost } from "./driver-host.ts";
import type { DriverMetrics } from "./driver-metrics.ts";

const machine: Machine = {
  metadata: { name: "m-1", namespace: "shoot", uid: "uid-1", labels: { name: "pool" }, annotations: { a: "b" } },
  spec: { class: { kind: "MachineClass", name: "small" } },
};
const machineClass: MachineClass = {
  metadata: { name: "small", namespace: "shoot" },
  provider: "mock",
  providerSpec: { size: 1 },
  secretRef: { name: "small" },
};
const nodeTemplate = { capacity: { cpu: 1, gpu: 0, memory: "1Gi" }, instanceType: "s", region: "r", zone: "z" };
const token = "s3cr3t-t0k3n";
const secret = { userData: Secret.of("#cloud-config of <<MACHINE_NAME>>"), token: Secret.of(token) };
const aCall = (change: Partial<CreateVmCall> = {}): CreateVmCall => ({
  machine,
  machineClass,
  secret,
  idempotencyToken: "uid-1-1",
  ...change,
});
const unaborted = new AbortController().signal;

function host(
  driver: Driver | Partial<DriverDefinition<unknown>> = {},
  options: { readonly hasTarget?: boolean; readonly fence?: () => void; readonly metrics?: DriverMetrics } = {},
) {
  const clock = createVirtualClock();
  const log = vi.fn<Log>();
  const drivers = [aDriver({ name: "other" }), "capabilities" in driver ? driver : aDriver(driver)];
  return { clock, log, ...createDriverHost({ drivers, hasTarget: true, clock, log, ...options }) };
}
const notFound = () => Promise.reject(new MachineError("NotFound", "no VM"));
const theVm = async () => ({ providerId: "vm-1", nodeName: "node-1" });
/** Whatever a driver gone wild answers or throws: no type holds it. */
const wild = (value: unknown) => async () => value as never;
const throwing = (value: unknown) => () => Promise.reject(value);

describe("a fenced host", () => {
  it("makes no VM when leadership ends between the look for one and its creation", async () => {
    let mayAct = true;
    const createMachine = vi.fn<() => Promise<never>>();
    const getMachineStatus = () => {
      mayAct = false;
      return notFound();
    };
    const fence = (): void => {
      if (!mayAct) throw new Error("somebody else leads");
    };
    const { ensureVm, deleteVm } = host({ createMachine, getMachineStatus }, { fence });
    const refused = { ok: false, error: { code: "Aborted", message: "somebody else leads" } };
    expect(await ensureVm(aCall(), unaborted)).toMatchObject(refused);
    expect(await deleteVm(aCall(), unaborted)).toMatchObject(refused);
    expect(createMachine).not.toHaveBeenCalled();
  });
});

describe("choosing the driver", () => {
  it("goes by the provider of the class, ignoring case", () => {
    const { refusalOf } = host();
    expect(refusalOf(machineClass)).toBeUndefined();
    expect(refusalOf({ ...machineClass, provider: "Mock" })).toBeUndefined();
    expect(refusalOf({ ...machineClass, provider: "aws" })).toBe(
      'provider: no driver "aws" is loaded; expected "other", "mock"',
    );
  });

  it("refuses a call for a class that names no driver", async () => {
    const { provider: _, ...nobodys } = machineClass;
    expect(host().refusalOf(nobodys)).toContain('no driver ""');
    expect(await host().ensureVm(aCall({ machineClass: nobodys }), unaborted)).toMatchObject({
      ok: false,
      error: {
        code: "InvalidArgument",
        message: expect.stringContaining('MachineClass "small": provider: no driver ""'),
      },
    });
  });
});

describe("what the driver is asked", () => {
  it("gets machine, class and secret, and nothing of the API objects besides", async () => {
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    await host({ createMachine }).ensureVm(aCall({ machineClass: { ...machineClass, nodeTemplate } }), unaborted);
    const [request] = createMachine.mock.calls[0] ?? [];
    expect(request).toEqual({
      machine: {
        name: "m-1",
        namespace: "shoot",
        uid: "uid-1",
        labels: { name: "pool" },
        annotations: { a: "b" },
      },
      machineClass: { name: "small", spec: { size: 1 }, nodeTemplate },
      secret,
      idempotencyToken: "uid-1-1",
      userData: Secret.of("#cloud-config of m-1"),
    });
    expect(request?.userData.reveal()).toBe("#cloud-config of m-1");
  });

  it("gets the id of a VM that is known, and not an empty one", async () => {
    const seen: (string | undefined)[] = [];
    const deleteMachine: Driver["deleteMachine"] = async ({ machine: asked }) => {
      seen.push(asked.providerId);
      return {};
    };
    const { deleteVm } = host({ deleteMachine });
    for (const providerID of ["vm-1", ""]) {
      const spec = { ...machine.spec, providerID };
      expect(await deleteVm(aCall({ machine: { ...machine, spec } }), unaborted)).toEqual({ ok: true, value: {} });
    }
    expect(seen).toEqual(["vm-1", undefined]);
  });

  it("is asked with the same token for every attempt, also by another process", async () => {
    const tokens: string[] = [];
    const createMachine = async ({ idempotencyToken }: CreateMachineRequest<unknown>) => {
      tokens.push(idempotencyToken);
      return theVm();
    };
    await host({ createMachine }).ensureVm(aCall(), unaborted);
    await host({ createMachine }).ensureVm(aCall(), unaborted);
    expect(tokens).toEqual(["uid-1-1", "uid-1-1"]);
  });

  it("gets what its schema makes of the spec", async () => {
    const seen: unknown[] = [];
    const { findVm } = host({
      spec: schema(() => ({ value: { size: 42 } })),
      getMachineStatus: async ({ machineClass: { spec } }) => {
        seen.push(spec);
        return theVm();
      },
    });
    await findVm(aCall(), unaborted);
    expect(seen).toEqual([{ size: 42 }]);
  });

  it("is not asked when its schema refuses spec or secret, whose values stay secret", async () => {
    const getMachineStatus = vi.fn<Driver["getMachineStatus"]>(theVm);
    const badSpec = schema(() => ({ issues: [{ message: "must be large", path: ["size"] }] }));
    const badSecret = schema(() => ({ issues: [{ message: `${token} is expired`, path: ["token"] }] }));
    expect(await host({ spec: badSpec, getMachineStatus }).ensureVm(aCall(), unaborted)).toMatchObject({
      ok: false,
      error: { code: "InvalidArgument", message: 'MachineClass "small": providerSpec.size: must be large' },
    });
    expect(await host({ secret: badSecret, getMachineStatus }).ensureVm(aCall(), unaborted)).toMatchObject({
      ok: false,
      error: {
        code: "InvalidArgument",
        message: 'Secret of MachineClass "small": secret.token: [redacted] is expired',
      },
    });
    expect(getMachineStatus).not.toHaveBeenCalled();
  });

  it("bears a machine without namespace and UID, and a secret without user data", async () => {
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    const bare = { metadata: { name: "m-1" }, spec: {} };
    await host({ createMachine }).ensureVm(aCall({ machine: bare, secret: {} }), unaborted);
    expect(createMachine.mock.calls[0]?.[0]).toMatchObject({ machine: { name: "m-1", namespace: "", uid: "" } });
  });
});

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

  it("looks first, makes it when there is none, and says that it wants to be initialized", async () => {
    expect(await ensure()).toEqual({ trace: ["status", "create"], outcome: made });
  });

  it("makes it when the driver cannot tell", async () => {
    const getMachineStatus = throwing(new MachineError("Unimplemented", "no"));
    expect((await ensure({ getMachineStatus })).trace).toEqual(["status", "create"]);
  });

  it("adopts the VM of an earlier attempt as it is", async () => {
    expect(await ensure({ getMachineStatus: theVm })).toEqual({ trace: ["status"], outcome: adopted });
    const initialized = async () => ({ ...(await theVm()), initialized: true });
    expect((await ensure({ getMachineStatus: initialized })).trace).toEqual(["status"]);
  });

  it("says that an adopted VM wants to be initialized that was not, where the driver has such a step", async () => {
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

  it("fails with what the driver says otherwise", async () => {
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

  test.each([...refusalCodes])("is spent after %s", async (code) => {
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

  it("is spent when the driver says so", async () => {
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
    ["what is no text", { volumeIds: ["disk-1", 7] }],
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

describe("user data", () => {
  const joins = { userData: Secret.of("join --token=<<BOOTSTRAP_TOKEN>> as <<MACHINE_NAME>>") };
  const bootstrapToken = () => Promise.resolve(Secret.of("abc123.0123456789abcdef"));
  const userDataOf = async (change: Partial<CreateVmCall>) => {
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    await host({ createMachine }).ensureVm(aCall(change), unaborted);
    return createMachine.mock.calls[0]?.[0].userData.reveal();
  };

  it("gets the bootstrap token of the machine where it asks for one", async () => {
    expect(await userDataOf({ secret: joins, bootstrapToken })).toBe("join --token=abc123.0123456789abcdef as m-1");
  });

  it("keeps the placeholder where there is no cluster to join", async () => {
    expect(await userDataOf({ secret: joins })).toBe("join --token=<<BOOTSTRAP_TOKEN>> as m-1");
  });

  it("asks for no token that it does not need: there is no placeholder, or the VM exists", async () => {
    const make = vi.fn<() => Promise<Secret>>(bootstrapToken);
    await userDataOf({ bootstrapToken: make });
    await host({ getMachineStatus: theVm }).ensureVm(aCall({ secret: joins, bootstrapToken: make }), unaborted);
    expect(make).not.toHaveBeenCalled();
  });

  it("without its token makes no VM: the failure is that of the token, and spends nothing", async () => {
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    const error = new MachineError("PermissionDenied", "no Secrets in kube-system");
    const outcome = await host({ createMachine }).ensureVm(
      aCall({ secret: joins, bootstrapToken: () => Promise.reject(error) }),
      unaborted,
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: "PermissionDenied", message: error.message } });
    expect(outcome.ok ? undefined : outcome.error.tokenIsSpent).toBeUndefined();
    expect(createMachine).not.toHaveBeenCalled();
  });

  it("is printed by nobody, nor is the token in it", async () => {
    const { log, ensureVm } = host({
      createMachine: ({ userData }, context) => {
        context.log("info", `booting with ${userData.reveal()}`, { data: userData.reveal() });
        throw new MachineError("Internal", `refused: ${userData.reveal().slice(0, 40)}`);
      },
    });
    const outcome = await ensureVm(aCall({ secret: joins, bootstrapToken }), unaborted);
    expect(JSON.stringify([outcome, log.mock.calls])).not.toContain("0123456789abcdef");
  });
});

describe("a driver that answers garbage", () => {
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "vm-1"],
    ["an empty object", {}],
    ["no id", { nodeName: "n" }],
    ["an empty id", { providerId: "", nodeName: "n" }],
    ["an id that is a number", { providerId: 1, nodeName: "n" }],
    ["an id as long as a book", { providerId: "x".repeat(4097), nodeName: "n" }],
    ["no node name", { providerId: "vm-1" }],
    ["an empty node name", { providerId: "vm-1", nodeName: "" }],
    ["addresses that are none", { providerId: "vm-1", nodeName: "n", addresses: "10.0.0.1" }],
    ["an address without type", { providerId: "vm-1", nodeName: "n", addresses: [{ address: "10.0.0.1" }] }],
    ["a null among addresses", { providerId: "vm-1", nodeName: "n", addresses: [null] }],
  ])("has failed: %s", async (_, answer) => {
    for (const change of [{ createMachine: wild(answer) }, { getMachineStatus: wild(answer) }]) {
      const outcome = await host(change).ensureVm(aCall(), unaborted);
      expect(outcome).toMatchObject({
        ok: false,
        error: {
          code: "Internal",
          message: expect.stringMatching(/^(getMachineStatus|createMachine) of the driver answered/),
        },
      });
    }
  });

  it("may leave out the node name where there is no cluster to join, as an empty one", async () => {
    const createMachine = async () => ({ providerId: "vm-1", nodeName: "" });
    expect(await host({ createMachine }, { hasTarget: false }).ensureVm(aCall(), unaborted)).toMatchObject({
      ok: true,
    });
  });
});

describe("a driver that throws garbage", () => {
  const unprintable = Object.create(null) as object;
  const hostile = Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("no message for you");
    },
  });
  test.each<[string, unknown, string]>([
    ["an error", new Error("boom"), "boom"],
    ["a text", "boom", "boom"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a symbol", Symbol("boom"), "Symbol(boom)"],
    ["what cannot be printed", unprintable, "something that cannot be printed was thrown"],
    ["an error that hides its message", hostile, "something that cannot be printed was thrown"],
    ["a look-alike of an error", { code: "NotFound", message: "x" }, "[object Object]"],
  ])("has an Internal failure: %s", async (_, thrown, message) => {
    const { ensureVm, log } = host({ createMachine: throwing(thrown) });
    expect(await ensureVm(aCall(), unaborted)).toMatchObject({ ok: false, error: { code: "Internal", message } });
    expect(log).toHaveBeenCalledWith("error", "A driver failed without a code", { error: message });
  });

  it("may throw before it returns a promise", async () => {
    const createMachine = () => {
      throw new Error("boom");
    };
    expect(await host({ createMachine }).ensureVm(aCall(), unaborted)).toMatchObject({ error: { message: "boom" } });
  });

  it("does not show a secret, in whatever form, nor in what lies behind", async () => {
    const leak = new Error(`401 for ${token}, ${encodeURIComponent(token)}, ${Buffer.from(token).toString("base64")}`);
    const thrown = [
      leak,
      `raw ${token}`,
      new MachineError("Unauthenticated", leak.message, { cause: leak, lastKnownState: token }),
    ];
    for (const each of thrown) {
      const { ensureVm, log } = host({ createMachine: throwing(each) });
      const outcome = await ensureVm(aCall(), unaborted);
      const visible = inspect([outcome, log.mock.calls], { depth: 10, showHidden: true });
      expect(visible).toContain("[redacted]");
      expect(visible).not.toContain(token);
      expect(visible).not.toContain(Buffer.from(token).toString("base64"));
    }
  });

  it("keeps code and wishes of a MachineError, within reason", async () => {
    const errorOf = async (change: object) => {
      const error = Object.assign(new MachineError("Unavailable", "busy"), change);
      const outcome = await host({ createMachine: throwing(error) }).ensureVm(aCall(), unaborted);
      return outcome.ok ? undefined : outcome.error;
    };
    expect(await errorOf({ retryAfterMs: 60_000, lastKnownState: "s" })).toMatchObject({
      code: "Unavailable",
      message: "busy",
      retryAfterMs: 60_000,
      lastKnownState: "s",
    });
    expect((await errorOf({ retryAfterMs: 1e12 }))?.retryAfterMs).toBe(3_600_000);
    for (const retryAfterMs of [Number.NaN, -1, "5", null]) {
      expect(await errorOf({ retryAfterMs })).not.toHaveProperty("retryAfterMs");
    }
    expect(await errorOf({ lastKnownState: 5 })).not.toHaveProperty("lastKnownState");
    expect((await errorOf({ message: "x".repeat(100_000) }))?.message).toHaveLength(4097);
  });
});

describe("a driver that takes too long", () => {
  const never = () => new Promise<never>(() => {});

  test.each([
    ["createMachine", { createMachine: never }, "ensureVm"],
    ["getMachineStatus", { getMachineStatus: never }, "findVm"],
    ["deleteMachine", { deleteMachine: never }, "deleteVm"],
    ["initializeMachine", { initializeMachine: never }, "initializeVm"],
  ] as const)("loses its call of %s at the deadline, though it ignores the signal", async (method, change, call) => {
    const { clock, ...driver } = host(change);
    const outcome = driver[call](aCall(), unaborted);
    await clock.advance(300_000);
    expect(await outcome).toMatchObject({
      ok: false,
      error: { code: "DeadlineExceeded", message: `${method} of driver "mock" took longer than 300 s` },
    });
    expect(clock.pending()).toBe(0);
  });

  const late = () => {
    const end = Promise.withResolvers<{ providerId: string; nodeName: string }>();
    const deleteMachine = vi.fn<Driver["deleteMachine"]>(async () => ({}));
    return { end, deleteMachine, ...host({ createMachine: () => end.promise, deleteMachine }) };
  };

  it("is waited for by the next call of the machine: a VM must not appear after its deletion has looked for it", async () => {
    const { clock, end, deleteMachine, ensureVm, deleteVm } = late();
    const stop = new AbortController();
    const creation = ensureVm(aCall(), stop.signal);
    await clock.advance(1_000);
    stop.abort(new Error("gone"));
    expect(await creation).toMatchObject({ ok: false, error: { code: "Aborted" } });
    const deletion = deleteVm(aCall(), unaborted);
    await clock.advance(1_000);
    expect(deleteMachine).not.toHaveBeenCalled();
    end.resolve({ providerId: "vm-1", nodeName: "node-1" });
    await clock.advance(1);
    expect(await deletion).toEqual({ ok: true, value: {} });
    expect(clock.pending()).toBe(0);
  });

  it("is given up when it never ends, and said to be", async () => {
    const { clock, log, deleteMachine, ensureVm, deleteVm } = late();
    const creation = ensureVm(aCall(), unaborted);
    await clock.advance(300_000);
    await creation;
    const deletion = deleteVm(aCall(), unaborted);
    await clock.advance(60_000);
    expect(await deletion).toEqual({ ok: true, value: {} });
    expect(deleteMachine).toHaveBeenCalledTimes(1);
    expect(log).toHaveBeenCalledWith("error", expect.stringContaining("ignores"), expect.anything());
  });

  it("does not keep the next call when that is aborted itself", async () => {
    const { clock, ensureVm, deleteVm } = late();
    const creation = ensureVm(aCall(), unaborted);
    await clock.advance(300_000);
    await creation;
    const stop = new AbortController();
    const deletion = deleteVm(aCall(), stop.signal);
    stop.abort(new Error("stop"));
    expect(await deletion).toMatchObject({ ok: false, error: { code: "Aborted" } });
    expect(clock.pending()).toBe(0);
  });

  it("loses it also when its schema does not end", async () => {
    const { clock, findVm } = host({ spec: schema(never) });
    const outcome = findVm(aCall(), unaborted);
    await clock.advance(300_000);
    expect(await outcome).toMatchObject({
      error: { code: "DeadlineExceeded", message: expect.stringContaining("MachineClass") },
    });
  });

  it("has the whole time for each of its calls", async () => {
    const slow = vi.fn<(request: MachineRequest<unknown>, context: DriverContext) => Promise<never>>(
      async (_, { clock }) => {
        await clock.sleep(200_000);
        throw new MachineError("NotFound", "no VM");
      },
    );
    const { clock, ensureVm } = host({
      getMachineStatus: slow,
      createMachine: async (_, context) => {
        await context.clock.sleep(200_000);
        return theVm();
      },
    });
    const outcome = ensureVm(aCall(), unaborted);
    await clock.advance(400_000);
    expect(await outcome).toMatchObject({ ok: true });
    expect(clock.pending()).toBe(0);
  });

  it("sees its signal abort at the deadline and when the controller stops, and may answer in its own words", async () => {
    const reasons: unknown[] = [];
    const createMachine: Driver["createMachine"] = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(new MachineError("Canceled", "stopped half-way"));
        });
      });
    const stop = new AbortController();
    const { clock, ensureVm } = host({ createMachine });
    const late = ensureVm(aCall(), unaborted);
    await clock.advance(300_000);
    const stopped = ensureVm(aCall(), stop.signal);
    await clock.advance(1);
    stop.abort(new Error("the controller stops"));
    expect(reasons).toMatchObject([{ code: "DeadlineExceeded" }, { message: "the controller stops" }]);
    expect((await late).ok || (await stopped).ok).toBe(false);
  });

  it("is not called at all after the controller has stopped", async () => {
    const getMachineStatus = vi.fn<Driver["getMachineStatus"]>(theVm);
    const outcome = await host({ getMachineStatus }).findVm(aCall(), AbortSignal.abort());
    expect(outcome).toMatchObject({ ok: false, error: { code: "Aborted" } });
    expect(getMachineStatus).not.toHaveBeenCalled();
  });

  it("makes no VM when the controller stops between look and creation", async () => {
    const stop = new AbortController();
    const createMachine = vi.fn<Driver["createMachine"]>(theVm);
    const getMachineStatus = () => {
      queueMicrotask(() => stop.abort(new Error("stop")));
      return notFound();
    };
    const outcome = await host({ createMachine, getMachineStatus }).ensureVm(aCall(), stop.signal);
    expect(outcome).toMatchObject({ ok: false, error: { code: "Aborted" } });
    expect(createMachine).not.toHaveBeenCalled();
  });

  it("leaves nobody waiting when the controller stops", async () => {
    const stop = new AbortController();
    const { clock, ensureVm } = host({ createMachine: never });
    const outcome = ensureVm(aCall(), stop.signal);
    await clock.advance(1);
    stop.abort(new Error("the controller stops"));
    expect(await outcome).toMatchObject({ ok: false, error: { code: "Aborted" } });
    expect(clock.pending()).toBe(0);
  });
});

it("lets a driver log with its name, and without secrets", async () => {
  const { findVm, log } = host({
    getMachineStatus: async (_, context) => {
      context.log("info", `asked with ${token}`, { url: `https://x?token=${token}`, tries: 2, driver: "evil" });
      return theVm();
    },
  });
  await findVm(aCall(), unaborted);
  expect(log).toHaveBeenCalledWith("info", "asked with [redacted]", {
    url: "https://x?token=[redacted]",
    tries: 2,
    driver: "mock",
    method: "getMachineStatus",
    machine: "m-1",
  });
});

describe("counting", () => {
  it("notes how each call ended and how long it took, but not one that was not made", async () => {
    const counted: (readonly [string, string, string, number])[] = [];
    const metrics: DriverMetrics = {
      countCall: (...call) => void counted.push(call),
      countApiCall: () => {},
    };
    let mayAct = true;
    const fence = (): void => {
      if (!mayAct) throw new Error("somebody else leads");
    };
    const { clock, ensureVm, deleteVm, findVm } = host(
      {
        getMachineStatus: notFound,
        createMachine: async (_, context) => {
          await context.clock.sleep(3_000);
          return theVm();
        },
        deleteMachine: throwing(new Error("a fault")),
      },
      { metrics, fence },
    );
    const created = ensureVm(aCall(), unaborted);
    await clock.advance(3_000);
    await created;
    await deleteVm(aCall(), unaborted);
    mayAct = false;
    await findVm(aCall(), unaborted);
    expect(counted).toEqual([
      ["mock", "getMachineStatus", "NotFound", 0],
      ["mock", "createMachine", "OK", 3],
      ["mock", "deleteMachine", "Internal", 0],
    ]);
  });

  it("counts a call that is left behind as it was seen: out of time, or aborted", async () => {
    const countCall = vi.fn<DriverMetrics["countCall"]>();
    const stop = new AbortController();
    const never = () => new Promise<never>(() => {});
    const metrics = { countCall, countApiCall: () => {} };
    const { clock, findVm, deleteVm } = host({ getMachineStatus: never, deleteMachine: never }, { metrics });
    const found = findVm(aCall(), unaborted);
    const deleted = deleteVm(
      aCall({ machine: { ...machine, metadata: { ...machine.metadata, uid: "2" } } }),
      stop.signal,
    );
    await clock.advance(1_000);
    stop.abort(new Error("told to stop"));
    await deleted;
    await clock.advance(300_000);
    await found;
    expect(countCall.mock.calls).toEqual([
      ["mock", "deleteMachine", "Aborted", 1],
      ["mock", "getMachineStatus", "DeadlineExceeded", 300],
    ]);
  });

  it("hands every call the same function for requests to the cloud, which knows the driver", async () => {
    const countApiCall = vi.fn<DriverMetrics["countApiCall"]>();
    const seen = new Set<unknown>();
    const request = { service: "instance_get", outcome: "ok", seconds: 0.1 };
    const getMachineStatus = async (_: unknown, { reportApiCall }: DriverContext) => {
      seen.add(reportApiCall);
      reportApiCall?.(request);
      return theVm();
    };
    const { findVm } = host({ getMachineStatus }, { metrics: { countCall: () => {}, countApiCall } });
    await findVm(aCall(), unaborted);
    await findVm(aCall(), unaborted);
    expect(countApiCall.mock.calls).toEqual([
      ["mock", request],
      ["mock", request],
    ]);
    expect(seen.size).toBe(1);
  });
});

describe("drift", () => {
  const difference = { field: "size", wanted: "1", found: "2" };

  it("is what the driver found, without secrets", async () => {
    const { findDrift } = host({
      findDrift: async () => ({
        providerId: "vm-1",
        differences: [difference, { ...difference, found: `is ${token}` }],
      }),
    });
    expect(await findDrift(aCall(), unaborted)).toMatchObject({
      ok: true,
      value: { providerId: "vm-1", differences: [difference, { found: expect.not.stringContaining(token) }] },
    });
  });

  it.each([
    [undefined, "without a providerId"],
    [{ providerId: "", differences: [] }, "without a providerId"],
    [{ providerId: "vm-1" }, "without a list of differences"],
    [{ providerId: "vm-1", differences: [null] }, "a difference without field"],
    [{ providerId: "vm-1", differences: [{ ...difference, found: 2 }] }, "a difference without field"],
  ])("is unknown when the driver answers %j", async (reply, message) => {
    const { findDrift } = host({ findDrift: wild(reply) });
    expect(await findDrift(aCall(), unaborted)).toMatchObject({
      ok: false,
      error: { code: "Internal", message: expect.stringContaining(message) },
    });
  });

  it("is Unimplemented where the driver cannot tell", async () => {
    expect(await host().findDrift(aCall(), unaborted)).toMatchObject({ ok: false, error: { code: "Unimplemented" } });
  });
});

describe("capacity", () => {
  const classCall = { machineClass, secret };

  it("is asked with the class and its secret, and without a machine", async () => {
    const getNodeTemplate = vi.fn<NonNullable<Driver["getNodeTemplate"]>>(async () => ({ nodeTemplate }));
    const { capacityOf, tellsCapacity } = host({ getNodeTemplate });
    expect(tellsCapacity(machineClass)).toBe(true);
    expect(await capacityOf(classCall, unaborted)).toEqual({ ok: true, value: nodeTemplate });
    expect(getNodeTemplate.mock.calls[0]?.[0]).toEqual({ machineClass: { name: "small", spec: { size: 1 } }, secret });
  });

  it.each([
    [undefined, "without a nodeTemplate"],
    [{ nodeTemplate: { ...nodeTemplate, zone: "" } }, "nodeTemplate.zone"],
    [{ nodeTemplate: { ...nodeTemplate, capacity: { cpu: 1, memory: "1Gi" } } }, "nodeTemplate.capacity.gpu"],
    [{ nodeTemplate: { ...nodeTemplate, capacity: { cpu: {}, gpu: 0, memory: "1Gi" } } }, "nodeTemplate.capacity.cpu"],
    [{ nodeTemplate: { ...nodeTemplate, capacity: { cpu: -1, gpu: 0, memory: "1Gi" } } }, "nodeTemplate.capacity.cpu"],
  ])("is refused when a class with it could make no machines: %j", async (reply, message) => {
    const { capacityOf } = host({ getNodeTemplate: wild(reply) });
    expect(await capacityOf(classCall, unaborted)).toMatchObject({
      ok: false,
      error: { code: "Internal", message: expect.stringContaining(message) },
    });
  });

  it("is Unimplemented where the driver cannot tell", async () => {
    const { capacityOf, tellsCapacity } = host();
    expect(tellsCapacity(machineClass)).toBe(false);
    expect(tellsCapacity({ ...machineClass, provider: "unknown" })).toBe(false);
    expect(await capacityOf(classCall, unaborted)).toMatchObject({ ok: false, error: { code: "Unimplemented" } });
  });
});
