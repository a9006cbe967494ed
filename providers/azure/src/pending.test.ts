import { describe, expect, it } from "vitest";
import { aContext, aMachine, aRequest } from "./testing/azure-cloud.ts";
import { aVirtualCloud } from "./testing/virtual-arm.ts";

const minute = 60_000;

/** A cloud in virtual time, and calls with the deadline that a host gives them. */
function aSlowCloud(options: Parameters<typeof aVirtualCloud>[0]) {
  const cloud = aVirtualCloud(options);
  const aCall = () => {
    const deadline = new AbortController();
    cloud.clock.setTimer(5 * minute, () => deadline.abort(new DOMException("too late", "TimeoutError")));
    return { ...aContext(deadline.signal), clock: cloud.clock };
  };
  return { ...cloud, aCall };
}

describe("an operation that takes longer than a call has", () => {
  it("is a creation that is pending, and ends with the VM that the first call has begun", async () => {
    const { arm, driver, requests, untilDone, aCall } = aSlowCloud({ vmMs: 10 * minute });
    const request = aRequest(aMachine("m"));
    const pending = { pending: { message: 'Azure creates VM "m"', checkAfterMs: 15_000 } };
    for (let call = 0; call < 2; call++) {
      expect(await untilDone(driver.createMachine(request, aCall()))).toEqual(pending);
      await expect(untilDone(driver.getMachineStatus(request, aCall()))).rejects.toMatchObject({ code: "NotFound" });
    }
    expect(await untilDone(driver.createMachine(request, aCall()))).toMatchObject({ nodeName: "m" });
    expect(arm.vm("m").provisioningState).toBe("Succeeded");
    expect(requests.filter(({ method }) => method === "PUT")).toHaveLength(2);
  });

  it("that fails in the end fails the call with the operation's code, and leaves nothing behind", async () => {
    const { arm, driver, untilDone, aCall } = aSlowCloud({ vmMs: 6 * minute });
    arm.world.vmFailures.set("m", { code: "ZonalAllocationFailed", message: "no capacity" });
    const request = aRequest(aMachine("m"));
    expect(await untilDone(driver.createMachine(request, aCall()))).toHaveProperty("pending");
    await expect(untilDone(driver.createMachine(request, aCall()))).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringContaining("no capacity"),
      tokenIsSpent: true,
    });
    expect(arm.inventory()).toEqual({ vms: [], nics: [], disks: [] });
  });

  it("is a deletion that is pending, and is asked for once", async () => {
    const { arm, driver, requests, untilDone, aCall } = aSlowCloud({ deleteMs: 7 * minute });
    const request = aRequest(aMachine("m"));
    await untilDone(driver.createMachine(request, aCall()));
    expect(await untilDone(driver.deleteMachine(request, aCall()))).toEqual({
      pending: { message: 'Azure deletes the VM of machine "m"', checkAfterMs: 15_000 },
    });
    expect(await untilDone(driver.deleteMachine(request, aCall()))).toEqual({ vm: "ended" });
    expect(arm.inventory()).toEqual({ vms: [], nics: [], disks: [] });
    expect(requests.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  });

  it("does not make a call pending that is aborted, or whose deadline comes first", async () => {
    const { clock, driver, untilDone, aCall } = aSlowCloud({ vmMs: 12 * minute });
    const request = aRequest(aMachine("m"));
    const stopped = new AbortController();
    clock.setTimer(minute, () => stopped.abort(new Error("stopped")));
    await expect(
      untilDone(driver.createMachine(request, { ...aCall(), signal: stopped.signal })),
    ).rejects.toMatchObject({ code: "Aborted" });
    const deadline = new AbortController();
    clock.setTimer(minute, () => deadline.abort(new DOMException("too late", "TimeoutError")));
    await expect(
      untilDone(driver.createMachine(request, { ...aCall(), signal: deadline.signal })),
    ).rejects.toMatchObject({
      code: "DeadlineExceeded",
      message: expect.stringContaining('Azure still processes the accepted request for "m"'),
    });
  });
});
