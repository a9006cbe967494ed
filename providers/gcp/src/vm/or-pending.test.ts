import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createGcpDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, failureOf } from "../testing/gcp-cloud.ts";

const minuteMs = 60_000;
const providerId = "gce:///my-project/europe-west1-b/m";
const request = () => aRequest();
const known = () => aRequest(aMachine("m", { providerId }));

/** A cloud in which an operation takes ten minutes, by a clock that the test turns. */
async function aSlowCloud() {
  const clock = createVirtualClock({ now: new Date() });
  const cloud = await aCloud({ clock, operationMs: 10 * minuteMs, provisioningMs: 10 * minuteMs });
  // The method that returns pending.
  const driver = createGcpDriver({ endpoint: cloud.url });
  const context = (signal = new AbortController().signal) => ({ ...aContext(signal), clock });
  return { ...cloud, clock, driver, context };
}

/** Turns the clock until a call has its answer. */
async function played<T>(clock: VirtualClock, call: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const over = call.then(
    () => void (state.isOver = true),
    () => void (state.isOver = true),
  );
  while (!state.isOver) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(5_000);
  }
  await over;
  return call;
}

describe("an operation that takes longer than a call", () => {
  it("makes a creation pending, and the call that comes after its end finds the VM", async () => {
    const { gce, clock, driver, context } = await aSlowCloud();
    const pending = {
      pending: { message: "Compute Engine is still creating VM m (my-project)", checkAfterMs: 10_000 },
    };
    const startMs = clock.monotonicMs();
    expect(await played(clock, driver.createMachine(request(), context()))).toEqual(pending);
    // The host would end it after five minutes.
    expect(clock.monotonicMs() - startMs).toBeLessThan(5 * minuteMs);
    // How many calls an operation takes depends on the time that this computer needs.
    let answer = await played(clock, driver.createMachine(request(), context()));
    for (let calls = 0; calls < 5 && "pending" in answer; calls++)
      answer = await played(clock, driver.createMachine(request(), context()));
    expect(answer).toMatchObject({ providerId });
    expect([gce.log.count("instances.insert"), gce.inventory().instances.length]).toEqual([1, 1]);
    expect(clock.pending()).toBe(0);
  });

  it("makes a creation fail in the call in which it does", async () => {
    const { gce, clock, driver, context } = await aSlowCloud();
    gce.world.capacity.set("n2-standard-2", 0);
    await played(clock, driver.createMachine(request(), context()));
    const status = failureOf(driver.getMachineStatus(request(), context()));
    expect(await played(clock, status)).toMatchObject({ code: "NotFound" });
    await played(clock, driver.createMachine(request(), context()));
    expect(await played(clock, failureOf(driver.createMachine(request(), context())))).toMatchObject({
      code: "ResourceExhausted",
      tokenIsSpent: true,
    });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("makes a deletion pending, until the VM is gone", async () => {
    const { gce, clock, driver, context } = await aSlowCloud();
    await played(clock, driver.createMachine(request(), context()));
    const answers = [];
    for (let calls = 0; calls < 6; calls++) answers.push(await played(clock, driver.deleteMachine(known(), context())));
    const pending = { pending: { message: "Compute Engine is still deleting VM m", checkAfterMs: 10_000 } };
    expect(answers.slice(0, 2)).toEqual([pending, pending]);
    expect(answers.at(-1)).toEqual({ vm: "missing" });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("is distinguished from the end of the call and of the process", async () => {
    const { gce, clock, driver, context } = await aSlowCloud();
    for (const [reason, code] of [
      [new DOMException("too late", "TimeoutError"), "DeadlineExceeded"],
      [new Error("stopping"), "Aborted"],
    ] as const) {
      const stop = new AbortController();
      const creating = failureOf(driver.createMachine(request(), context(stop.signal)));
      const looks = gce.log.count("zoneOperations.get");
      while (gce.log.count("zoneOperations.get") === looks) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await clock.advance(100);
      }
      stop.abort(reason);
      expect(await creating).toMatchObject({ code });
    }
  });
});
