import { describe, expect, it } from "vitest";
import { aVm } from "./testing/mock-cloud.ts";
import { aStillCloud } from "./testing/still-cloud.ts";

describe("faults", () => {
  it("apply the given number of times and are then removed", async () => {
    const { cloud } = aStillCloud();
    await cloud.addFault({ operation: "list", code: "Unavailable", times: 2, retryAfterMs: 10 });
    for (let hit = 0; hit < 2; hit++) {
      await expect(cloud.listVms()).rejects.toMatchObject({ code: "Unavailable", retryAfterMs: 10 });
    }
    await expect(cloud.listVms()).resolves.toEqual([]);
    await expect(cloud.listFaults()).resolves.toEqual([]);
  });

  it("hit only what they name", async () => {
    const { cloud } = aStillCloud();
    await cloud.addFault({ operation: "get", code: "Internal", match: "web-" });
    await cloud.createVm(aVm("db-1"));
    const web = await cloud.createVm(aVm("web-1"));
    await cloud.getVm("db-1");
    await expect(cloud.getVm(web.id)).rejects.toMatchObject({ code: "Internal" });
  });

  it("lose the reply of a call that was accepted", async () => {
    const { cloud } = aStillCloud();
    await cloud.addFault({ operation: "create", code: "DeadlineExceeded", afterAcceptance: true });
    await expect(cloud.createVm(aVm("a"))).rejects.toMatchObject({ code: "DeadlineExceeded" });
    expect(cloud.vms()).toHaveLength(1);
  });

  it("apply according to their probability", async () => {
    const { cloud } = aStillCloud();
    await cloud.addFault({ operation: "*", code: "Aborted", probability: 0.25, times: 100_000 });
    let hits = 0;
    for (let call = 0; call < 400; call++) await cloud.listVms().catch(() => hits++);
    expect(hits).toBeGreaterThan(60);
    expect(hits).toBeLessThan(140);
  });

  it("delay on top of the latency, and end with the caller's abort", async () => {
    const { clock, cloud } = aStillCloud({ latencyMs: 100 });
    await cloud.addFault({ operation: "list", delayMs: 400 });
    let done = false;
    const listed = cloud.listVms().then(() => (done = true));
    await clock.advance(499);
    expect(done).toBe(false);
    await clock.advance(1);
    await listed;
    const stuck = cloud.createVm(aVm("a"), { signal: AbortSignal.abort(new Error("stop")) });
    await expect(stuck).rejects.toThrow("stop");
    expect(cloud.vms()).toEqual([]);
  });

  it("are refused when they make no sense", async () => {
    const { cloud } = aStillCloud();
    await expect(cloud.addFault({ operation: "list", probability: 2 })).rejects.toMatchObject({
      code: "InvalidArgument",
    });
    await expect(cloud.addFault({ operation: "list", times: 0 })).rejects.toThrow(/times/);
  });

  it("are taken away together", async () => {
    const { cloud } = aStillCloud();
    await cloud.addFault({ operation: "*", code: "Internal", times: 5 });
    await cloud.clearFaults();
    await expect(cloud.listVms()).resolves.toEqual([]);
  });
});

describe("calls", () => {
  it("are recorded with their outcome and counted", async () => {
    const { cloud } = aStillCloud();
    await cloud.createVm(aVm("a"));
    await cloud.getVm("b").catch(() => undefined);
    await cloud.listVms({}, { signal: AbortSignal.abort() }).catch(() => undefined);
    expect(cloud.calls.map((call) => `${call.operation} ${call.subjects.join()} ${call.outcome}`)).toEqual([
      "create a OK",
      "get b NotFound",
      "list  aborted",
    ]);
    await expect(cloud.countCalls()).resolves.toMatchObject({ create: 1, get: 1, list: 1, delete: 0 });
  });
});
