import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { aCloud, aMachine, aSpec, aVm, codeOf, places } from "./testing/mock-cloud.ts";

const a = aMachine("pool-a-1");

describe.each(places)("deleting a machine, %s", (place) => {
  it("resolves when the VM is gone, not before", async () => {
    const { cloud, create, remove } = await aCloud(place);
    await create(a);
    await remove(a);
    expect(cloud.vms()).toEqual([]);
    await expect(cloud.listVms({ states: ["terminated"] })).resolves.toHaveLength(1);
  });

  it("succeeds twice, and for machines that never had a VM", async () => {
    const { create, remove } = await aCloud(place);
    const { providerId } = await create(a);
    await remove({ ...a, providerId });
    await expect(remove({ ...a, providerId })).resolves.toEqual({ vm: "ended" });
    await expect(remove(a)).resolves.toEqual({ vm: "missing", showsNewVms: true });
    await expect(remove({ ...a, providerId: "mock:///local/i-000000000000" })).resolves.toEqual({ vm: "missing" });
  });

  it("ends with nothing left while the VM is still booting, without a provider id", async () => {
    const { cloud, create, remove } = await aCloud(place);
    await create(a, aSpec({ bootDelay: "1h" }));
    expect(cloud.vms()[0]?.state).toBe("pending");
    await remove(a);
    expect(cloud.vms()).toEqual([]);
  });

  it("leaves a VM alone that carries other tags", async () => {
    const { cloud, create, remove } = await aCloud(place);
    const { providerId } = await create(aMachine("other"));
    const foreign = await cloud.createVm(aVm("pet", { machineType: "large" }));
    await expect(codeOf(remove({ ...a, providerId }))).resolves.toBe("PermissionDenied");
    await expect(codeOf(remove({ ...aMachine("pet"), providerId: foreign.providerId }))).resolves.toBe(
      "PermissionDenied",
    );
    await remove(aMachine("pet"));
    expect(cloud.vms()).toHaveLength(2);
  });

  it("deletes only the VM with the provider id when a machine has two, as for an orphan", async () => {
    const { cloud, create, remove } = await aCloud(place);
    const { providerId } = await create(a);
    const [vm] = cloud.vms();
    const orphan = await cloud.createVm(aVm(a.name, { token: "twin", tags: vm?.tags ?? {} }));
    await remove({ name: a.name, namespace: a.namespace, uid: "", providerId: orphan.providerId });
    expect(cloud.vms()).toMatchObject([{ providerId }]);
  });

  it("ends with DeadlineExceeded at its deadline and goes on in the next call", async () => {
    const clock = createVirtualClock();
    const { cloud, create, remove } = await aCloud(place, clock);
    await create(a);
    const deadline = new AbortController();
    const late = codeOf(remove(a, deadline.signal));
    await expect.poll(() => cloud.vms()[0]?.state).toBe("terminating");
    deadline.abort(new DOMException("too late", "TimeoutError"));
    await expect(late).resolves.toBe("DeadlineExceeded");
    const removed = remove(a);
    await clock.advance(60);
    await removed;
    expect(cloud.vms()).toEqual([]);
  });

  it("fails with Aborted after an abort", async () => {
    const clock = createVirtualClock();
    const { cloud, create, remove } = await aCloud(place, clock);
    await create(a);
    const controller = new AbortController();
    const removed = codeOf(remove(a, controller.signal));
    await expect.poll(() => cloud.vms()[0]?.state).toBe("terminating");
    controller.abort();
    await expect(removed).resolves.toBe("Aborted");
  });

  it("passes on the code with which the cloud refuses", async () => {
    const { cloud, create, remove } = await aCloud(place);
    await create(a);
    await cloud.addFault({
      operation: "delete",
      code: "FailedPrecondition",
      message: "termination protection is on",
    });
    await expect(remove(a)).rejects.toMatchObject({
      code: "FailedPrecondition",
      message: "termination protection is on",
    });
    expect(cloud.vms()).toHaveLength(1);
  });
});
