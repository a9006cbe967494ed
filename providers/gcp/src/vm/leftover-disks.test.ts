import type { GceEmulator } from "@millwright/emulators/gce";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, aSlowCloud, plainSpec } from "../testing/gcp-cloud.ts";

const providerId = "gce:///my-project/europe-west1-b/m";
const [boot] = plainSpec.disks;
const data = { type: "pd-ssd", sizeGb: 10 };
const twoDisks = { disks: [boot, data] };
const keptDisk = { disks: [boot, { ...data, autoDelete: false }] };
const known = (spec: object = {}) => aRequest(aMachine("m", { providerId }), { ...spec });

const disksOf = (gce: GceEmulator): readonly string[] => gce.inventory().disks.map(({ name }) => name);

/** A user detaches a disk from its VM. */
const detach = (gce: GceEmulator, name: string): void => {
  const disk = gce.world.disks.get(`my-project/europe-west1-b/${name}`);
  if (disk === undefined) throw new Error(`there is no disk ${name}`);
  disk.instanceId = undefined;
};

describe("disks that are left when a VM goes", () => {
  it.each([
    ["whose id is stored", known(twoDisks)],
    ["without a stored id", aRequest(aMachine("m"), twoDisks)],
  ])("are deleted with the machine when the VM was deleted without them: one %s", async (_, request) => {
    const { gce, driver } = await aCloud({ operationMs: 20 });
    await driver.createMachine(aRequest(aMachine("m"), twoDisks), aContext());
    await driver.createMachine(aRequest(aMachine("n"), twoDisks), aContext());
    gce.remove("m", { keepDisks: true });
    gce.remove("n", { keepDisks: true });
    expect(disksOf(gce)).toEqual(["m", "m-1", "n", "n-1"]);
    await driver.deleteMachine(request, aContext());
    expect(disksOf(gce)).toEqual(["n", "n-1"]);
    await driver.deleteMachine(request, aContext());
    expect(gce.log.count("disks.delete")).toBe(2);
  });

  it("go with the machine when they were taken off its VM before", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), twoDisks), aContext());
    gce.attachDisk("m", "pv-1");
    detach(gce, "m-1");
    await driver.deleteMachine(known(twoDisks), aContext());
    expect(disksOf(gce)).toEqual(["pv-1"]);
  });

  it("go with an orphan, which has no machine any more", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), twoDisks), aContext());
    detach(gce, "m-1");
    const orphan = aMachine("m", { uid: "", providerId });
    await driver.deleteMachine(aRequest(orphan, twoDisks), aContext());
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("stay if the class keeps them, even if a user deletes the VM", async () => {
    for (const isByHand of [false, true]) {
      const { gce, driver } = await aCloud();
      await driver.createMachine(aRequest(aMachine("m"), keptDisk), aContext());
      if (isByHand) gce.remove("m");
      await driver.deleteMachine(known(keptDisk), aContext());
      expect([isByHand, disksOf(gce)]).toEqual([isByHand, ["m-1"]]);
    }
  });

  it("are kept if they have another owner: volumes, those of MCM's driver, those of another VM", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), { disks: [boot, data, data] }), aContext());
    await driver.createMachine(aRequest(aMachine("n")), aContext());
    gce.attachDisk("m", "pv-1");
    gce.remove("m", { keepDisks: true });
    const at = (name: string) => `my-project/europe-west1-b/${name}`;
    const [unlabeled, moved] = [gce.world.disks.get(at("m-1")), gce.world.disks.get(at("m-2"))];
    if (unlabeled !== undefined) gce.world.disks.set(at("m-1"), { ...unlabeled, labels: {} });
    if (moved !== undefined) moved.instanceId = gce.inventory().instances[0]?.id;
    await driver.deleteMachine(known(), aContext());
    expect(disksOf(gce).toSorted()).toEqual(["m-1", "m-2", "n", "pv-1"]);
  });

  it("are not looked for when all have gone with the VM", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), twoDisks), aContext());
    gce.attachDisk("m", "pv-1");
    await driver.deleteMachine(known(twoDisks), aContext());
    expect(gce.log.count("disks.list")).toBe(0);
  });

  it("are looked for once by deletions that come together", async () => {
    const { gce, driver } = await aCloud();
    const requests = ["a", "b", "c", "d"].map((name) => aRequest(aMachine(name)));
    await Promise.all(requests.map((request) => driver.createMachine(request, aContext())));
    for (const name of ["a", "b", "c", "d"]) gce.remove(name, { keepDisks: true });
    await Promise.all(requests.map((request) => driver.deleteMachine(request, aContext())));
    expect(disksOf(gce)).toEqual([]);
    expect(gce.log.count("disks.list")).toBeLessThanOrEqual(2);
  });

  it("count as deleted when another client is faster", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    gce.remove("m", { keepDisks: true });
    const message = "The resource 'projects/my-project/zones/europe-west1-b/disks/m' was not found";
    gce.faults.add({ operation: "disks.delete", end: { kind: "refuse", refusal: { code: "notFound", message } } });
    await expect(driver.deleteMachine(known(), aContext())).resolves.toEqual({ vm: "missing" });
    const errors = [{ code: "RESOURCE_NOT_FOUND", message }];
    const body = JSON.stringify({ id: "1", name: "o", status: "DONE", error: { errors }, httpErrorStatusCode: 404 });
    gce.faults.add({ operation: "disks.delete", end: { kind: "reply", reply: { status: 200, body } } });
    await expect(driver.deleteMachine(known(), aContext())).resolves.toEqual({ vm: "missing" });
  });

  it("are deleted independently of each other, and the failure is reported", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), twoDisks), aContext());
    gce.remove("m", { keepDisks: true });
    const end = { kind: "refuse", refusal: { code: "resourceInUseByAnotherResource" } } as const;
    gce.faults.add({ operation: "disks.delete", match: "m-1", end });
    await expect(driver.deleteMachine(known(), aContext())).rejects.toMatchObject({ code: "Aborted" });
    expect(disksOf(gce)).toEqual(["m-1"]);
    await driver.deleteMachine(known(), aContext());
    expect(disksOf(gce)).toEqual([]);
  });

  it("fail the deletion when their operation does", async () => {
    const { gce, driver } = await aCloud({ operationMs: 5 });
    await driver.createMachine(aRequest(), aContext());
    gce.remove("m", { keepDisks: true });
    const operation = {
      id: "1",
      name: "o",
      status: "DONE",
      error: { errors: [{ code: "INTERNAL_ERROR", message: "because" }] },
      httpErrorStatusCode: 500,
    };
    const end = { kind: "reply", reply: { status: 200, body: JSON.stringify(operation) } } as const;
    gce.faults.add({ operation: "zoneOperations.get", end });
    await expect(driver.deleteMachine(known(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: "deleting disk m in europe-west1-b (my-project): because (INTERNAL_ERROR)",
    });
  });
});

describe("disks that a creation has left", () => {
  it("are deleted when it failed, also those that the class keeps: they are unused", async () => {
    const { gce, driver } = await aCloud({ operationMs: 5 });
    gce.world.capacity.set("n2-standard-2", 0);
    const request = aRequest(aMachine("m"), { ...keptDisk, fallbacks: [{ zone: "europe-west1-c" }] });
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({ code: "ResourceExhausted" });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
    gce.world.capacity.clear();
    await driver.createMachine({ ...request, idempotencyToken: "second" }, aContext());
    expect(disksOf(gce)).toEqual(["m", "m-1"]);
  });

  it("go when a later call learns that it failed", async () => {
    const { gce, driver, clock, abortWaiting } = await aSlowCloud();
    gce.world.capacity.set("n2-standard-2", 0);
    const request = aRequest(aMachine("m"), keptDisk);
    await abortWaiting((context) => driver.createMachine(request, context));
    const waits = gce.log.count("zoneOperations.get");
    const creating = driver.createMachine(request, aContext()).catch((error: unknown) => error);
    await expect.poll(() => gce.log.count("zoneOperations.get")).toBeGreaterThan(waits);
    clock.skip(60_000);
    await expect.poll(() => gce.log.count("disks.delete")).toBe(1);
    clock.skip(60_000);
    expect(await creating).toMatchObject({ code: "ResourceExhausted", tokenIsSpent: true });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("go with the next try when the process died before it could delete them", async () => {
    const { gce, driver } = await aCloud();
    gce.world.capacity.set("n2-standard-2", 0);
    const request = aRequest(aMachine("m"), keptDisk);
    gce.faults.add({ operation: "disks.list", times: 9, end: { kind: "reset" } });
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({ code: "Unavailable" });
    expect(disksOf(gce)).toEqual(["m-1"]);
    gce.faults.clear();
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      tokenIsSpent: true,
    });
    expect(disksOf(gce)).toEqual([]);
  });

  it("do not block the next attempt when the VM was deleted without them", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), twoDisks), aContext());
    gce.remove("m", { keepDisks: true });
    const again = { ...aRequest(aMachine("m"), twoDisks), idempotencyToken: "second" };
    await expect(driver.createMachine(again, aContext())).rejects.toMatchObject({
      code: "Aborted",
      message: 'disks of an earlier VM of machine "m" blocked the creation and were deleted: m, m-1',
    });
    await driver.createMachine(again, aContext());
    expect(gce.inventory().instances).toMatchObject([{ status: "RUNNING" }]);
  });

  it("stay when they are of another machine of that name, or the class wants to keep them", async () => {
    const { gce, driver } = await aCloud();
    const bootKept = { disks: [{ ...boot, autoDelete: false }] };
    await driver.createMachine(aRequest(aMachine("m"), bootKept), aContext());
    gce.remove("m");
    const again = { ...aRequest(aMachine("m"), bootKept), idempotencyToken: "second" };
    const other = { ...aRequest(aMachine("m", { uid: "other" })), idempotencyToken: "third" };
    for (const request of [again, other]) {
      await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({
        code: "AlreadyExists",
        message: expect.stringContaining("disks/m"),
      });
    }
    expect(disksOf(gce)).toEqual(["m"]);
  });
});
