import { inspect } from "node:util";
import { MachineError } from "@millwright/core";
import { describe, expect, it, test } from "vitest";
import type { Log } from "@millwright/kube";
import { aCall, host, notFound, throwing, token, unaborted, wild } from "../testing/hosted-driver.ts";

/** The lines that are logged without `--log-level=debug`. */
const shown = (lines: readonly Parameters<Log>[]) => lines.filter(([level]) => level !== "debug");

describe("a driver that answers garbage", () => {
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "vm-1"],
    ["an empty object", {}],
    ["no id", { nodeName: "n" }],
    ["an empty id", { providerId: "", nodeName: "n" }],
    ["an id that is a number", { providerId: 1, nodeName: "n" }],
    ["an id with control characters", { providerId: "vm-1\n", nodeName: "n" }],
    ["an id that is shown in another order", { providerId: "vm-\u202e1", nodeName: "n" }],
    ["an id with an invisible character", { providerId: "vm-1\u200b", nodeName: "n" }],
    ["an id with half of a character", { providerId: "vm-\ud800", nodeName: "n" }],
    ["an id as long as a book", { providerId: "x".repeat(4097), nodeName: "n" }],
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

  const address = { type: "InternalIP", address: "10.0.0.1" };
  const rejecting = (key: string): object =>
    Object.defineProperty({ providerId: "vm-1", nodeName: "n" }, key, {
      get: () => {
        throw new Error("hostile");
      },
    });
  test.each<[string, object, object]>([
    ["no node name", { providerId: "vm-1" }, { nodeName: "" }],
    ["an empty node name", { providerId: "vm-1", nodeName: "" }, { nodeName: "" }],
    ["a node name as long as a book", { providerId: "vm-1", nodeName: "n".repeat(1e6) }, { nodeName: "" }],
    ["a node name with control characters", { providerId: "vm-1", nodeName: "a\n\u0000" }, { nodeName: "a\n\u0000" }],
    ["addresses that are none", { providerId: "vm-1", nodeName: "n", addresses: "10.0.0.1" }, { nodeName: "n" }],
    [
      "odd ones among its addresses",
      {
        providerId: "vm-1",
        nodeName: "n",
        addresses: [null, { address: "10.0.0.2" }, address, { ...address, type: 1 }],
      },
      { nodeName: "n", addresses: [address] },
    ],
    [
      "a million addresses",
      { providerId: "vm-1", nodeName: "n", addresses: Array.from({ length: 1e6 }, () => address) },
      { nodeName: "n", addresses: Array.from({ length: 64 }, () => address) },
    ],
    [
      "a huge address",
      { providerId: "vm-1", nodeName: "n", addresses: [{ ...address, address: "1".repeat(1e6) }] },
      { nodeName: "n" },
    ],
    ["a node name that throws", rejecting("nodeName"), { nodeName: "" }],
    ["addresses that throw", rejecting("addresses"), { nodeName: "n" }],
    ["a state that throws", rejecting("lastKnownState"), { nodeName: "n" }],
    ["a progress that throws", rejecting("pending"), { nodeName: "n" }],
    ["a prototype that has it all", Object.create({ providerId: "vm-1", nodeName: "n" }) as object, { nodeName: "n" }],
  ])("has a VM, whose id is not lost: %s", async (_, answer, rest) => {
    for (const change of [{ createMachine: wild(answer) }, { getMachineStatus: wild(answer) }]) {
      const outcome = await host(change).ensureVm(aCall(), unaborted);
      const isAdopted = "getMachineStatus" in change;
      expect(outcome).toEqual({ ok: true, value: { providerId: "vm-1", ...rest, isAdopted } });
    }
  });

  it("learns which field of a list or a comparison has an id that would be shown as another one", async () => {
    const call = aCall();
    const vm = { providerId: "vm-\u20661", machineName: "m" };
    expect(await host({ listMachines: wild({ machines: [vm] }) }).listVms(call, unaborted)).toMatchObject({
      error: {
        code: "Internal",
        message: expect.stringContaining("listMachines of the driver answered a providerId with"),
      },
    });
    const findDrift = wild({ providerId: "vm-\u20661", differences: [] });
    expect(await host({ findDrift }).findDrift(call, unaborted)).toMatchObject({
      error: {
        code: "Internal",
        message: expect.stringContaining("findDrift of the driver answered a providerId with"),
      },
    });
  });

  it("lists what is left of a VM as such only when it is texts", async () => {
    const vm = { providerId: "vm-1", machineName: "m" };
    const listed = (parts: unknown) =>
      host({ listMachines: wild({ machines: [{ ...vm, parts }] }) }).listVms(aCall(), unaborted);
    expect(await listed(["NIC a\u001b"])).toEqual({ ok: true, value: [{ ...vm, parts: ["NIC a\uFFFD"] }] });
    for (const parts of ["NIC a", [], [1], [{}], null]) expect(await listed(parts)).toEqual({ ok: true, value: [vm] });
  });

  it("has addresses left out that would be shown as others, with a log line about each answer", async () => {
    const odd = ["10.0.0.\u202e1", "10.0.0.1\n", "10.0.0.1\u200b"].map((text) => ({ ...address, address: text }));
    const reply = { providerId: "vm-1", nodeName: "n", addresses: [...odd, address] };
    const value = expect.objectContaining({ addresses: [address] });
    const lines = "Addresses of a VM that cannot be shown as they are were left out";
    for (const change of [{ createMachine: wild(reply) }, { getMachineStatus: wild(reply) }]) {
      const { ensureVm, log } = host(change);
      expect(await ensureVm(aCall(), unaborted)).toEqual({ ok: true, value });
      expect(shown(log.mock.calls)).toEqual([["warn", lines, { driver: "mock", machine: "m-1", count: 3 }]]);
    }
    const { findVm, log } = host({ getMachineStatus: wild(reply) });
    expect(await findVm(aCall(), unaborted)).toEqual({ ok: true, value });
    expect(shown(log.mock.calls)).toHaveLength(1);
    const initialized = host({ initializeMachine: wild({ addresses: [...odd, address] }) });
    expect(await initialized.initializeVm(aCall(), unaborted)).toEqual({ ok: true, value });
    expect(shown(initialized.log.mock.calls)).toHaveLength(1);
    const plain = host({ createMachine: wild({ ...reply, addresses: [address] }) });
    await plain.ensureVm(aCall(), unaborted);
    expect(shown(plain.log.mock.calls)).toEqual([]);
  });

  it("has failed when a look-up finds a VM without an id, which is a value for a deletion", async () => {
    for (const answer of [undefined, {}, rejecting("providerId"), { providerId: "a\u0007" }]) {
      const outcome = await host({ getMachineStatus: wild(answer) }).findVm(aCall(), unaborted);
      expect(outcome).toEqual({
        ok: true,
        value: { unreadable: expect.stringMatching(/^getMachineStatus of the driver answered/) },
      });
    }
  });

  it("is asked again after a deletion whose answer cannot be read, and confirms nothing with a look-up that cannot be read", async () => {
    const odd = Object.defineProperty({}, "vm", {
      get: () => {
        throw new Error("hostile");
      },
    });
    expect(await host({ deleteMachine: wild(odd), getMachineStatus: notFound }).deleteVm(aCall(), unaborted)).toEqual({
      ok: true,
      value: {},
    });
    const unread = await host({ deleteMachine: wild(odd), getMachineStatus: wild({}) }).deleteVm(aCall(), unaborted);
    expect(unread).toMatchObject({ ok: false, error: { code: "Internal" } });
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
    ["a text", "boom", "threw a text, not a MachineError: boom"],
    ["lines", "boom\n  at home\n", "threw a text, not a MachineError: boom at home"],
    ["nothing", undefined, "threw nothing, not a MachineError: undefined"],
    ["null", null, "threw nothing, not a MachineError: null"],
    ["a symbol", Symbol("boom"), "threw a symbol, not a MachineError: Symbol(boom)"],
    [
      "what cannot be printed",
      unprintable,
      "threw an object, not a MachineError: something that cannot be printed was thrown",
    ],
    ["an error that hides its message", hostile, "something that cannot be printed was thrown"],
    [
      "a look-alike of an error",
      { code: "NotFound", message: "x" },
      "threw an object, not a MachineError: NotFound: x",
    ],
  ])("has an Internal failure: %s", async (_, thrown, message) => {
    const { ensureVm, log } = host({ createMachine: throwing(thrown) });
    expect(await ensureVm(aCall(), unaborted)).toMatchObject({ ok: false, error: { code: "Internal", message } });
    expect(log).toHaveBeenCalledWith("error", "A driver failed without a code", {
      driver: "mock",
      machineClass: "small",
      machine: "m-1",
      error: message,
    });
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

  it("keeps code and options of a MachineError, within limits", async () => {
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
