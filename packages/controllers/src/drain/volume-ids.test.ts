import { MachineError } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it, vi } from "vitest";
import type { DriverOutcome } from "../model/driver-port.ts";
import { createVolumeIds, type VolumeIdAnswer } from "./volume-ids.ts";

type Outcome = DriverOutcome<VolumeIdAnswer>;

function setUp() {
  const clock = createVirtualClock();
  const ids = createVolumeIds(clock);
  const enqueue = vi.fn<() => void>();
  const lookUp = (volumes: readonly string[], run: (signal: AbortSignal) => Promise<Outcome>) =>
    ids.lookUp("mock", { volumes, run, enqueue });
  const nowMs = () => clock.now().getTime();
  return { clock, ids, enqueue, lookUp, nowMs };
}

const answer = (...value: VolumeIdAnswer): Promise<Outcome> => Promise.resolve({ ok: true, value });
const failure = (code: "Unimplemented" | "Internal"): Promise<Outcome> =>
  Promise.resolve({ ok: false, error: new MachineError(code, "no") });

describe("volume ids", () => {
  it("are unknown before the first lookup", () => {
    const { ids } = setUp();
    expect([ids.idOf("mock", "pv"), ids.waitUntil("mock", "pv")]).toEqual([undefined, undefined]);
  });

  it("are waited for, not longer than ten seconds, and known by volume and driver once they are there", async () => {
    const { clock, ids, enqueue, lookUp, nowMs } = setUp();
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    lookUp(["a", "nfs"], () => promise);
    expect(ids.waitUntil("mock", "a")).toBe(nowMs() + 10_000);
    expect(ids.idOf("mock", "a")).toBeUndefined();
    resolve({ ok: true, value: ["vol-a", null] });
    await clock.advance(0);
    expect(enqueue).toHaveBeenCalledOnce();
    expect(["a", "nfs"].map((volume) => ids.idOf("mock", volume))).toEqual(["vol-a", null]);
    expect(ids.waitUntil("mock", "a")).toBe(0);
    expect(ids.waitUntil("other", "a")).toBeUndefined();
    expect(ids.idOf("other", "a")).toBeUndefined();
  });

  it("are looked up again some minutes after the driver failed, and not before", async () => {
    const { clock, ids, enqueue, lookUp } = setUp();
    lookUp(["a"], () => failure("Internal"));
    await clock.advance(0);
    expect(enqueue).toHaveBeenCalledOnce();
    expect([ids.idOf("mock", "a"), ids.waitUntil("mock", "a")]).toEqual([undefined, 0]);
    await clock.advance(5 * 60_000);
    expect(ids.waitUntil("mock", "a")).toBeUndefined();
  });

  it("are never looked up again when the driver does not support volumes", async () => {
    const { clock, ids, lookUp } = setUp();
    lookUp(["a"], () => failure("Unimplemented"));
    await clock.advance(24 * 3_600_000);
    expect([ids.idOf("mock", "a"), ids.waitUntil("mock", "a")]).toEqual([undefined, 0]);
  });

  it("are removed with their volume, also while a lookup is in progress", async () => {
    const { clock, ids, lookUp } = setUp();
    lookUp(["a"], () => answer("vol-a"));
    ids.forget("a");
    await clock.advance(0);
    expect(ids.waitUntil("mock", "a")).toBeUndefined();
  });

  it("are not looked up after the end, which aborts lookups in progress", async () => {
    const { ids, lookUp } = setUp();
    let aborted = false;
    lookUp(
      ["a"],
      (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve({ ok: false, error: new MachineError("Aborted", "stop") });
          });
        }),
    );
    await ids.close();
    expect(aborted).toBe(true);
    const run = vi.fn<() => Promise<Outcome>>(() => answer("vol-b"));
    lookUp(["b"], run);
    expect(run).not.toHaveBeenCalled();
  });
});
