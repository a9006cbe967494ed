import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "../testing/gcp-cloud.ts";

const idOf = (name: string, zone = "europe-west1-b"): string => `gce:///my-project/${zone}/${name}`;

describe("capacity fallbacks", () => {
  const fallbacks = [
    { machineType: "n2-standard-4" },
    { zone: "europe-west1-c" },
    { machineType: "n1-standard-2", zone: "europe-west1-c" },
  ];

  it("are tried in their order when there is no capacity", async () => {
    const { gce, driver } = await aCloud();
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0).set("n2-standard-4", 0);
    const made = await driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext());
    expect(made.providerId).toBe(idOf("m", "europe-west1-c"));
    expect(gce.log.count("instances.insert")).toBe(3);
    expect(gce.inventory().instances).toMatchObject([{ zone: "europe-west1-c" }]);
    const disks = gce.inventory().disks.map(({ zone }) => zone);
    expect(disks).toEqual(["europe-west1-c"]);
  });

  it("report the errors of all candidates when none has capacity, and leave nothing", async () => {
    const { gce, driver } = await aCloud();
    for (const type of ["n2-standard-2", "n2-standard-4", "n1-standard-2"]) gce.world.capacity.set(type, 0);
    await expect(driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(
        /n2-standard-2 in europe-west1-b.*n2-standard-4 in europe-west1-b.*n2-standard-2 in europe-west1-c.*n1-standard-2 in europe-west1-c/,
      ),
    });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("can be taken from Compute Engine's hint where there is capacity", async () => {
    const { gce, driver } = await aCloud({ operationMs: 5 });
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0).set("n2-standard-2/europe-west1-c", 1);
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(/enough resources available.*; there is some in europe-west1-c \(ZONE_RESOURCE/),
    });
  });

  it("help against a type that a zone does not have", async () => {
    const { driver } = await aCloud();
    const spec = { machineType: "t2a-standard-2", zone: "europe-west1-c", fallbacks: [{ zone: "europe-west1-b" }] };
    const made = await driver.createMachine(aRequest(aMachine("m"), spec), aContext());
    expect(made.providerId).toBe(idOf("m"));
  });

  it("do not help against anything but a lack of capacity", async () => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.insert", end: { kind: "refuse", refusal: { code: "invalid" } } });
    await expect(driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
    });
    expect(gce.log.count("instances.insert")).toBe(1);
  });

  it("make one VM when the process died after one was accepted, although there is capacity for the first again", async () => {
    const { gce, driver } = await aCloud();
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0).set("n2-standard-4", 0);
    gce.faults.add({ operation: "instances.insert", skip: 2, times: 3, end: { kind: "reset" }, afterAcceptance: true });
    const request = aRequest(aMachine("m"), { fallbacks });
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({ code: "Unavailable" });
    gce.world.capacity.clear();
    const { providerId } = await driver.createMachine(request, aContext());
    expect(providerId).toBe(idOf("m", "europe-west1-c"));
    expect(gce.inventory().instances).toHaveLength(1);
    await expect(driver.getMachineStatus(request, aContext())).resolves.toMatchObject({ providerId });
  });
});
