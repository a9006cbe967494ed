import { type Driver, type DriverContext, MachineError, type MachineRequest } from "@millwright/core";
import { describe, expect, it, test, vi } from "vitest";
import { schema } from "../testing/fake-driver.ts";
import { aCall, host, notFound, theVm, unaborted } from "../testing/hosted-driver.ts";

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

  it("is ignored when it never ends, which is logged", async () => {
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

  it("knows how much time its call has left", async () => {
    const left: unknown[] = [];
    const getMachineStatus: Driver["getMachineStatus"] = async (_, { clock, remainingMs }) => {
      left.push(remainingMs?.());
      await clock.sleep(60_000);
      left.push(remainingMs?.());
      return theVm();
    };
    const { clock, findVm } = host({ getMachineStatus });
    const outcome = findVm(aCall(), unaborted);
    await clock.advance(60_000);
    expect(await outcome).toMatchObject({ ok: true });
    expect(left).toEqual([300_000, 240_000]);
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

  it("ends all waits when the controller stops", async () => {
    const stop = new AbortController();
    const { clock, ensureVm } = host({ createMachine: never });
    const outcome = ensureVm(aCall(), stop.signal);
    await clock.advance(1);
    stop.abort(new Error("the controller stops"));
    expect(await outcome).toMatchObject({ ok: false, error: { code: "Aborted" } });
    expect(clock.pending()).toBe(0);
  });
});
