import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/gcp-cloud.ts";

const uid = "0c0ffee0-0000-4000-8000-000000000001";

describe("listing machines", () => {
  it("gives every VM of the cluster and role in the zones of the class, with name and UID", async () => {
    const { gce, driver } = await aCloud({ provisioningMs: 60_000 });
    gce.world.capacity.set("n2-standard-4/europe-west1-b", 0);
    const fallbacks = [{ zone: "europe-west1-c" }];
    await driver.createMachine(aRequest(aMachine("a", { uid })), aContext());
    await driver.createMachine(aRequest(aMachine("b"), { machineType: "n2-standard-4", fallbacks }), aContext());
    await driver.createMachine(
      aRequest(aMachine("c"), { tags: ["kubernetes-io-cluster-x", "kubernetes-io-role-node"] }),
      aContext(),
    );
    await driver.createMachine(aRequest(aMachine("d"), { zone: "us-central1-a", region: "us-central1" }), aContext());
    const { machines } = (await driver.listMachines?.(aRequest(aMachine("m"), { fallbacks }), aContext())) ?? {};
    expect(machines).toEqual([
      {
        providerId: "gce:///my-project/europe-west1-b/a",
        machineName: "a",
        machineUid: uid,
        machineNamespace: "shoot",
      },
      // The label of a UID that is none holds a hash or anything else: it is not passed on.
      { providerId: "gce:///my-project/europe-west1-c/b", machineName: "b", machineNamespace: "shoot" },
    ]);
  });

  it("reads all pages", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m-0")), aContext());
    const [first] = gce.world.instances.values();
    if (first === undefined) throw new Error("there is no VM");
    for (let index = 1; index < 2_500; index++) {
      const name = `m-${index}`;
      gce.world.instances.set(`my-project/europe-west1-b/${name}`, { ...first, id: gce.world.nextId(), name });
    }
    gce.log.clear();
    const listed = await driver.listMachines?.(aRequest(), aContext());
    expect(new Set(listed?.machines.map(({ machineName }) => machineName)).size).toBe(2_500);
    expect(gce.log.count("instances.list")).toBe(5);
    // Three questions are cheaper one by one than five pages.
    gce.log.clear();
    await Promise.all(
      ["m-1", "m-2", "m-3", "m-4"].map((name) =>
        driver.getMachineStatus(aRequest(aMachine(name, { uid: "" })), aContext()),
      ),
    );
    expect([gce.log.count("instances.get"), gce.log.count("instances.list")]).toEqual([4, 0]);
  });

  it("fails when a page does", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const page = { kind: "compute#instanceList", id: "l", nextPageToken: "NzAwMDAwMDAwMDAwMDAwMDAwMQ" };
    gce.faults.add({
      operation: "instances.list",
      end: { kind: "reply", reply: { status: 200, body: JSON.stringify(page) } },
    });
    gce.faults.add({
      operation: "instances.list",
      times: 3,
      end: { kind: "refuse", refusal: { code: "backendError" } },
    });
    await expect(driver.listMachines?.(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
  });

  it("does not go round in circles when a page token repeats", async () => {
    const { gce, driver } = await aCloud();
    const body = JSON.stringify({ kind: "compute#instanceList", id: "l", nextPageToken: "same" });
    gce.faults.add({ operation: "instances.list", times: 99, end: { kind: "reply", reply: { status: 200, body } } });
    await expect(driver.listMachines?.(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    expect(gce.log.count("instances.list")).toBe(2);
  });

  it("is asked once by classes that ask together", async () => {
    const { gce, driver } = await aCloud();
    await Promise.all(Array.from({ length: 20 }, async () => driver.listMachines?.(aRequest(), aContext())));
    expect(gce.log.count("instances.list")).toBe(1);
  });
});
