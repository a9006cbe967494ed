import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aSpec, aVm, codeOf, places } from "./testing/mock-cloud.ts";

const a = aMachine("pool-a-1");

describe.each(places)("looking for a machine, %s", (place) => {
  it("answers NotFound for a machine without a VM", async () => {
    const { status } = await aCloud(place);
    await expect(codeOf(status(a))).resolves.toBe("NotFound");
    await expect(codeOf(status({ ...a, providerId: "mock:///local/i-000000000000" }))).resolves.toBe("NotFound");
  });

  it("answers NotFound while the VM is going and when it is gone", async () => {
    const { cloud, create, status } = await aCloud(place);
    await create(a);
    await cloud.deleteVm(a.name);
    await expect(codeOf(status(a))).resolves.toBe("NotFound");
  });

  it("does not take the VM of another cluster or another UID for its own", async () => {
    const { driver, requestFor, create, status } = await aCloud(place);
    await create(a);
    const other = { ...a, uid: "other" };
    const elsewhere = requestFor(other, aSpec({ cluster: "other" }));
    await expect(codeOf(driver.getMachineStatus(elsewhere, aContext()))).resolves.toBe("NotFound");
    await expect(codeOf(status(other))).resolves.toBe("NotFound");
  });

  it("still knows its VM when its class was put into another cluster since", async () => {
    const { cloud, driver, requestFor, create } = await aCloud(place);
    const { providerId } = await create(a);
    const moved = requestFor(a, aSpec({ cluster: "other" }));
    await expect(driver.getMachineStatus(moved, aContext())).resolves.toMatchObject({ providerId });
    await driver.deleteMachine(moved, aContext());
    expect(cloud.vms()).toEqual([]);
  });

  it("answers OutOfRange with both ids when two VMs belong to one machine", async () => {
    const { cloud, create, status } = await aCloud(place);
    const { providerId } = await create(a);
    const [vm] = cloud.vms();
    const twin = await cloud.createVm(aVm(a.name, { token: "twin", tags: vm?.tags ?? {} }));
    await expect(status(a)).rejects.toMatchObject({ code: "OutOfRange" });
    await expect(status(a)).rejects.toThrow(providerId);
    await expect(status(a)).rejects.toThrow(twin.providerId);
  });

  it("is initialized after initializeMachine, as often as that is called", async () => {
    const { driver, requestFor, create, status } = await aCloud(place);
    await create(a);
    await expect(status(a)).resolves.toMatchObject({ initialized: false });
    await driver.initializeMachine?.(requestFor(a), aContext());
    await driver.initializeMachine?.(requestFor(a), aContext());
    await expect(status(a)).resolves.toMatchObject({ initialized: true });
  });

  it("cannot initialize a VM that is not there", async () => {
    const { driver, requestFor } = await aCloud(place);
    await expect(codeOf(driver.initializeMachine?.(requestFor(a), aContext()))).resolves.toBe("NotFound");
  });
});
