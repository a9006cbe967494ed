import { describe, expect, it } from "vitest";
import { aContext, aMachine, aRequest } from "./testing/azure-cloud.ts";
import { aVirtualCloud } from "./testing/virtual-arm.ts";

const callDeadlineMs = 300_000;

/** 500 machines on an Azure where a VM takes 30 s to be created or deleted. What comes first, such as SDKs and tokens, has happened. */
async function aBusyCloud() {
  const cloud = aVirtualCloud({ vmMs: 30_000, deleteMs: 30_000, partMs: 1_500, pageSize: 100 });
  const { clock, driver, requests, untilDone } = cloud;
  /** A context of a call that starts now. */
  const aCall = () => {
    const deadline = new AbortController();
    clock.setTimer(callDeadlineMs, () => deadline.abort(new DOMException("too late", "TimeoutError")));
    return { ...aContext(deadline.signal), clock };
  };
  await untilDone(driver.createMachine(aRequest(aMachine("first")), aCall()));
  requests.splice(0);
  const machines = Array.from({ length: 500 }, (_, index) => aRequest(aMachine(`m${index}`)));
  /** How long it takes, milliseconds, and the requests that it took. */
  const measure = async (call: (request: (typeof machines)[number]) => Promise<unknown>) => {
    requests.splice(0);
    const startMs = clock.monotonicMs();
    await untilDone(Promise.all(machines.map(call)));
    const reads = requests.filter(({ method }) => method === "GET");
    return {
      tookMs: clock.monotonicMs() - startMs,
      writes: requests.length - reads.length,
      reads: reads.length,
      throttled: requests.filter(({ status }) => status === 429).length,
    };
  };
  return { ...cloud, aCall, measure };
}

describe("500 machines at once", { timeout: 180_000 }, () => {
  it("are created within 90 s where a VM takes 30 s, with a few hundred reads", async () => {
    const { arm, driver, aCall, measure } = await aBusyCloud();
    const { tookMs, writes, reads, throttled } = await measure((request) => driver.createMachine(request, aCall()));
    expect(arm.inventory().vms).toHaveLength(501);
    expect(tookMs).toBeLessThan(90_000);
    // A NIC and a VM each.
    expect(writes).toBe(1_000);
    expect(reads).toBeLessThan(500);
    expect(throttled).toBe(0);
  });

  it("that a process before has begun to create end as soon, and all are deleted", async () => {
    const { arm, driver, untilDone, clock, aCall, measure } = await aBusyCloud();
    const stopped = new AbortController();
    const interrupted = measure((request) =>
      driver.createMachine(request, { ...aCall(), signal: stopped.signal }).catch(() => undefined),
    );
    await untilDone(clock.sleep(20_000));
    stopped.abort(new Error("stopped"));
    await interrupted;
    const again = await measure((request) => driver.createMachine(request, aCall()));
    expect(arm.inventory().vms).toHaveLength(501);
    expect(again.tookMs).toBeLessThan(90_000);
    expect(again.throttled).toBe(0);
    const deletion = await measure((request) => driver.deleteMachine(request, aCall()));
    expect(arm.inventory().vms).toHaveLength(1);
    expect(deletion.tookMs).toBeLessThan(120_000);
  });
});
