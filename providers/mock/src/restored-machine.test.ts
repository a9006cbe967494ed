import type { MachineIdentity } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { ownerTagKeys } from "./owner-tags.ts";
import { aCloud, aContext, aMachine, aSpec, codeOf, places } from "./testing/mock-cloud.ts";

const a = aMachine("pool-a-1");

describe.each(places)("a machine that was restored under its old name, %s", (place) => {
  const restored = (more: Partial<MachineIdentity>) => aMachine(a.name, { uid: "new", ...more });

  it("keeps the VM that its provider id names: it has a status, is initialized, compared and deleted", async () => {
    const { cloud, driver, requestFor, create, status, remove } = await aCloud(place);
    const { providerId } = await create(a);
    const machine = restored({ providerId });
    await expect(status(machine)).resolves.toMatchObject({ providerId, initialized: false });
    await driver.initializeMachine?.(requestFor(machine), aContext());
    await expect(status(machine)).resolves.toMatchObject({ providerId, initialized: true });
    await expect(driver.findDrift?.(requestFor(machine), aContext())).resolves.toMatchObject({ providerId });
    expect(cloud.vms()).toMatchObject([{ tags: { [ownerTagKeys.machineUid]: a.uid } }]);
    await remove(machine);
    expect(cloud.vms()).toEqual([]);
    await expect(remove(machine)).resolves.toEqual({ vm: "ended" });
  });

  it("does not take that VM without the id: it has none, and deletes none", async () => {
    const { cloud, create, status, remove } = await aCloud(place);
    await create(a);
    await expect(codeOf(status(restored({})))).resolves.toBe("NotFound");
    await remove(restored({}));
    await expect(codeOf(create(restored({})))).resolves.toBe("AlreadyExists");
    expect(cloud.vms()).toHaveLength(1);
  });

  it("does not take the VM of a machine in another namespace or another cluster, whatever its id names", async () => {
    const { cloud, driver, requestFor, create } = await aCloud(place);
    const { providerId } = await create(a);
    const elsewhere = requestFor(restored({ providerId }), aSpec({ cluster: "other" }));
    for (const request of [requestFor(restored({ providerId, namespace: "other" })), elsewhere]) {
      await expect(codeOf(driver.getMachineStatus(request, aContext()))).resolves.toBe("NotFound");
      await expect(codeOf(driver.deleteMachine(request, aContext()))).resolves.toBe("PermissionDenied");
    }
    expect(cloud.vms()).toMatchObject([{ state: expect.not.stringContaining("terminat") }]);
  });
});
