import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, aSlowCloud, spotScheduling } from "./testing/gcp-cloud.ts";

const providerId = "gce:///my-project/europe-west1-b/m";
const known = (spec: object = {}) => aRequest(aMachine("m", { providerId }), { ...spec });

describe("the status of a machine", () => {
  it("is that of its VM, in one request", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    gce.log.clear();
    await expect(driver.getMachineStatus(known(), aContext())).resolves.toMatchObject({ providerId, nodeName: "m" });
    expect(gce.log.requests.map(({ operation }) => operation)).toEqual(["instances.get"]);
  });

  it("is NotFound where there is none", async () => {
    const { driver } = await aCloud();
    for (const request of [aRequest(), known()]) {
      await expect(driver.getMachineStatus(request, aContext())).rejects.toMatchObject({
        code: "NotFound",
        message: 'there is no VM for machine "m"',
      });
    }
  });

  it("is NotFound while a VM without a stored id is being created: createMachine waits for it", async () => {
    const { gce, driver, clock } = await aSlowCloud({ operationMs: 0 });
    await driver.createMachine(aRequest(), aContext());
    for (const status of ["PROVISIONING", "STAGING"]) {
      expect(gce.inventory().instances).toMatchObject([{ status }]);
      await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
        code: "NotFound",
        message: `VM m is still being created (${status})`,
      });
      await expect(driver.getMachineStatus(known(), aContext())).resolves.toMatchObject({ providerId });
      clock.skip(30_000);
    }
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toMatchObject({ providerId });
  });

  it("is that of a stopped VM, as in MCM: it can be started again", async () => {
    const { gce, driver, clock } = await aSlowCloud({ operationMs: 0, provisioningMs: 0, stagingMs: 0 });
    await driver.createMachine(aRequest(aMachine("m"), { scheduling: spotScheduling }), aContext());
    gce.stop("m");
    const request = known({ scheduling: spotScheduling });
    for (const status of ["STOPPING", "TERMINATED"]) {
      expect(gce.inventory().instances).toMatchObject([{ status }]);
      await expect(driver.getMachineStatus(request, aContext())).resolves.toMatchObject({ providerId });
      clock.skip(60_000);
    }
  });

  it.each([{}, { instanceTerminationAction: "DELETE" }])("reports that a spot VM was reclaimed: %o", async (more) => {
    const { gce, driver } = await aCloud();
    const scheduling = { ...spotScheduling, ...more };
    await driver.createMachine(aRequest(aMachine("m"), { scheduling }), aContext());
    gce.reclaim("m");
    await expect(driver.getMachineStatus(known({ scheduling }), aContext())).rejects.toMatchObject({
      code: "NotFound",
      message: 'there is no VM for machine "m"; m was reclaimed: Compute Engine took the spot VM back',
    });
  });

  it("reports that a preemptible VM was reclaimed", async () => {
    const { gce, driver } = await aCloud();
    const scheduling = { preemptible: true, onHostMaintenance: "TERMINATE" };
    await driver.createMachine(aRequest(aMachine("m"), { scheduling }), aContext());
    gce.reclaim("m");
    await expect(driver.getMachineStatus(known({ scheduling }), aContext())).rejects.toThrow(/was reclaimed/);
  });

  it("asks once about a hundred machines", async () => {
    const { gce, driver } = await aCloud();
    const names = Array.from({ length: 100 }, (_, index) => `m-${index}`);
    await Promise.all(names.map((name) => driver.createMachine(aRequest(aMachine(name)), aContext())));
    gce.log.clear();
    await Promise.all(names.map((name) => driver.getMachineStatus(aRequest(aMachine(name)), aContext())));
    expect(gce.log.requests.map(({ operation }) => operation)).toEqual(["instances.list"]);
  });

  it("names all VMs of a machine that has several", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const request = aRequest(aMachine("m"), { fallbacks: [{ zone: "europe-west1-c" }] });
    const [vm] = gce.world.instances.values();
    if (vm === undefined) throw new Error("there is no VM");
    gce.world.instances.set("my-project/europe-west1-c/m", { ...vm, id: "99", zone: "europe-west1-c" });
    await expect(driver.getMachineStatus(request, aContext())).rejects.toMatchObject({
      code: "OutOfRange",
      message:
        'machine "m" has more than one VM: gce:///my-project/europe-west1-b/m, gce:///my-project/europe-west1-c/m',
    });
  });

  it("finds the VM of a known id although its tags and labels were taken away", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [vm] = gce.world.instances.values();
    if (vm !== undefined) vm.resource = { ...vm.resource, tags: { items: [] }, labels: {} };
    await expect(driver.getMachineStatus(known(), aContext())).resolves.toMatchObject({ providerId });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
  });

  it("does not take a missing project for a missing VM", async () => {
    const { gce, driver } = await aCloud();
    gce.world.projects.clear();
    await expect(driver.getMachineStatus(known(), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("projects/my-project"),
    });
  });
});
