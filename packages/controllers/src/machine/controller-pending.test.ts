import { type Machine, machineResource } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { named } from "../testing/builders.ts";
import { ref, setUp } from "../testing/machine-process.ts";

const names = (count: number) => Array.from({ length: count }, (_, index) => `m${String(index).padStart(2, "0")}`);
const minute = 60_000;

describe("creations that are pending", () => {
  it("are all in progress at once, fifty of one class, with one write each and the calls that the driver requests", async () => {
    const { api, clock, driver, start, create, writes } = setUp();
    for (const name of names(50)) create(named(name));
    driver.pend("ensureVm", 10, "installing", minute);
    await start();
    await clock.advance(10_000);
    expect(driver.calls).toHaveLength(50);
    const written = writes().length;
    await clock.advance(9 * minute);
    expect([driver.calls.length, driver.vms.size, writes().length - written]).toEqual([500, 0, 0]);
    const operations = api.all<Machine>(machineResource).map(({ status }) => status?.lastOperation?.description);
    expect(new Set(operations)).toEqual(new Set(["Provisioning VM: installing"]));
    await clock.advance(minute);
    expect([driver.calls.length, driver.vms.size]).toEqual([550, 50]);
  });

  it("are continued by the next process, besides all that its class may create at once", async () => {
    const { clock, driver, start, create } = setUp();
    const accepted = names(3);
    for (const name of accepted) create(named(name));
    driver.pend("ensureVm", 3, "installing", minute);
    const first = await start();
    await clock.advance(1_000);
    await first.stop();
    for (let index = 0; index < 60; index++) create(named(`a-new-${index}`));
    driver.calls.length = 0;
    const release = driver.hold();
    await start();
    await clock.advance(1_000);
    expect(driver.calls).toHaveLength(53);
    expect(driver.calls).toEqual(expect.arrayContaining(accepted.map((name) => `ensureVm ${name}`)));
    release();
    await clock.advance(5 * minute);
    expect(driver.vms.size).toBe(63);
  });

  it("make the machine Failed when one process has observed it for the creation timeout, and a VM that comes up later is deleted with it", async () => {
    const { api, clock, driver, start, create, machine, phase } = setUp();
    create({ metadata: { creationTimestamp: clock.now().toISOString() } });
    driver.pend("ensureVm", Number.POSITIVE_INFINITY, "installing", 10 * minute);
    const first = await start();
    await clock.advance(15 * minute);
    await first.stop();
    await start();
    await clock.advance(20 * minute - 1_000);
    expect(phase()).toBeUndefined();
    await clock.advance(2_000);
    expect([phase(), machine()?.status?.lastOperation?.errorCode]).toEqual(["Failed", "DeadlineExceeded"]);
    const calls = driver.calls.length;
    await clock.advance(60 * minute);
    expect(driver.calls).toHaveLength(calls);
    await api.delete(machineResource, ref);
    await clock.advance(10_000);
    expect(driver.calls.slice(calls)).toEqual(["findVm machine", "deleteVm machine"]);
    expect(machine()).toBeUndefined();
  });
});

describe("a deletion that is pending", () => {
  it("is called again after the driver's time, by the next process too, and ends when the VM is deleted", async () => {
    const { api, clock, driver, start, create, machine, writes } = setUp();
    create();
    const first = await start();
    await clock.advance(10);
    driver.calls.length = 0;
    driver.pend("deleteVm", 20, "wiping disks", 2 * minute);
    await api.delete(machineResource, ref);
    await clock.advance(10 * minute);
    const calls = () => driver.calls.filter((call) => call.startsWith("deleteVm")).length;
    // At once, and every two minutes.
    expect(calls()).toBe(6);
    expect(machine()?.status?.lastOperation).toMatchObject({
      type: "Delete",
      state: "Processing",
      description: "VM deletion is in progress: wiping disks. Initiate VM deletion",
    });
    const written = writes().length;
    await first.stop();
    await start();
    await clock.advance(27 * minute);
    expect([calls(), writes().length - written, driver.vms.size]).toEqual([20, 0, 1]);
    await clock.advance(2 * minute);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });
});
