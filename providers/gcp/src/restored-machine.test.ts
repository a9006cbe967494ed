import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainSpec } from "./testing/gcp-cloud.ts";

const providerId = "gce:///my-project/europe-west1-b/m";
const [boot] = plainSpec.disks;
const data = { type: "pd-ssd", sizeGb: 10 };
const threeDisks = { disks: [boot, data, { ...data, autoDelete: false }] };
const before = aRequest(aMachine("m", { uid: "old" }), threeDisks);
const known = aRequest(aMachine("m", { uid: "new", providerId }), threeDisks);
const unknown = aRequest(aMachine("m", { uid: "new" }), threeDisks);

/** A cloud with the VM and the disks of a machine whose object was restored, and so has another UID than their labels. */
async function aCloudWithVm() {
  const cloud = await aCloud();
  await cloud.driver.createMachine(before, aContext());
  cloud.gce.log.clear();
  return cloud;
}

type Gce = Awaited<ReturnType<typeof aCloud>>["gce"];

const disksOf = (gce: Gce): readonly string[] => gce.inventory().disks.map(({ name }) => name);

/** A user detaches a disk from its VM. */
function detach(gce: Gce, name: string): void {
  const disk = gce.world.disks.get(`my-project/europe-west1-b/${name}`);
  if (disk === undefined) throw new Error(`there is no disk ${name}`);
  disk.instanceId = undefined;
}

describe("a machine that was restored under its old name", () => {
  it("keeps the VM that its provider id names, in one request, and does not write to it", async () => {
    const { gce, driver } = await aCloudWithVm();
    await expect(driver.getMachineStatus(known, aContext())).resolves.toMatchObject({ providerId });
    expect(gce.log.requests.map(({ operation }) => operation)).toEqual(["instances.get"]);
    await expect(driver.findDrift?.(known, aContext())).resolves.toEqual({ providerId, differences: [] });
    await expect(driver.listMachines?.(known, aContext())).resolves.toMatchObject({
      machines: [{ providerId, machineName: "m" }],
    });
  });

  it("is deleted with its VM and disks, but for that which the class wants to keep, and again without harm", async () => {
    const { gce, driver } = await aCloudWithVm();
    await driver.deleteMachine(known, aContext());
    await driver.deleteMachine(known, aContext());
    expect(gce.inventory().instances).toEqual([]);
    expect(disksOf(gce)).toEqual(["m-2"]);
  });

  it("is deleted with disks that were taken off its VM, also when the first try does not come to its end", async () => {
    const { gce, driver } = await aCloudWithVm();
    gce.attachDisk("m", "pv-1");
    detach(gce, "m-1");
    gce.faults.add({ operation: "disks.delete", end: { kind: "refuse", refusal: { code: "resourceNotReady" } } });
    await expect(driver.deleteMachine(known, aContext())).rejects.toMatchObject({ code: "Aborted" });
    expect(disksOf(gce)).toContain("m-1");
    await driver.deleteMachine(known, aContext());
    expect(disksOf(gce).toSorted()).toEqual(["m-2", "pv-1"]);
  });

  it("is deleted with the remaining disks of a deleted VM, and without those of others", async () => {
    const { gce, driver } = await aCloudWithVm();
    await driver.createMachine(aRequest(aMachine("m-x"), threeDisks), aContext());
    gce.remove("m", { keepDisks: true });
    gce.remove("m-x", { keepDisks: true });
    await driver.deleteMachine(known, aContext());
    expect(disksOf(gce).toSorted()).toEqual(["m-2", "m-x", "m-x-1", "m-x-2"]);
  });

  it("has no VM and no disks without a provider id: those of that name are of the machine before", async () => {
    const { gce, driver } = await aCloudWithVm();
    await expect(driver.getMachineStatus(unknown, aContext())).rejects.toMatchObject({ code: "NotFound" });
    await expect(driver.createMachine(unknown, aContext())).rejects.toMatchObject({ code: "AlreadyExists" });
    await driver.deleteMachine(unknown, aContext());
    expect(gce.inventory().instances).toHaveLength(1);
    gce.remove("m", { keepDisks: true });
    await driver.deleteMachine(unknown, aContext());
    expect(disksOf(gce)).toEqual(["m", "m-1", "m-2"]);
  });

  it.each<[string, object]>([
    ["namespace", { labels: { "millwright-machine-uid": "old", "millwright-namespace": "other" } }],
    ["cluster", { tags: { items: ["kubernetes-io-cluster-other", "kubernetes-io-role-node"] } }],
    ["role", { tags: { items: ["kubernetes-io-cluster-shoot", "kubernetes-io-role-other"] } }],
  ])("does not delete a VM of another %s, whatever its id names", async (_, change) => {
    const { gce, driver } = await aCloudWithVm();
    for (const vm of gce.world.instances.values()) vm.resource = { ...vm.resource, ...change };
    await expect(driver.deleteMachine(known, aContext())).rejects.toMatchObject({
      code: "PermissionDenied",
      message: expect.stringContaining("kept"),
    });
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("does not delete the disks of a VM of another namespace, whatever its id names", async () => {
    const { gce, driver } = await aCloudWithVm();
    gce.remove("m", { keepDisks: true });
    const elsewhere = aRequest(aMachine("m", { uid: "new", namespace: "other", providerId }), threeDisks);
    await driver.deleteMachine(elsewhere, aContext());
    expect(disksOf(gce)).toEqual(["m", "m-1", "m-2"]);
  });

  it("supports namespaces and UIDs that are not valid in a label", async () => {
    const { gce, driver } = await aCloud();
    const strange = { namespace: "a.b", uid: "Old" };
    await driver.createMachine(aRequest(aMachine("m", strange)), aContext());
    const machine = aMachine("m", { ...strange, uid: "New", providerId });
    const elsewhere = aMachine("m", { namespace: "a.c", uid: "New", providerId });
    const refused = { code: "PermissionDenied" };
    await expect(driver.deleteMachine(aRequest(elsewhere), aContext())).rejects.toMatchObject(refused);
    await driver.deleteMachine(aRequest(machine), aContext());
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });
});
