import { Secret } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, aSlowCloud, plainSpec, spotScheduling } from "./testing/gcp-cloud.ts";
import { ownerLabelKeys } from "./vm/owner-tags.ts";

const idOf = (name: string, zone = "europe-west1-b"): string => `gce:///my-project/${zone}/${name}`;

describe("creating a machine", () => {
  it("makes one VM with the provider id and node name of MCM, and the marks of its owner from the first moment", async () => {
    const { gce, driver } = await aCloud();
    const made = await driver.createMachine(aRequest(), aContext());
    expect(made).toMatchObject({
      providerId: "gce:///my-project/europe-west1-b/m",
      nodeName: "m",
      addresses: [{ type: "InternalIP", address: expect.stringMatching(/^10\./) }],
    });
    const owner = {
      [ownerLabelKeys.managedBy]: "millwright",
      [ownerLabelKeys.namespace]: "shoot",
      [ownerLabelKeys.machineUid]: "uid-of-m",
      [ownerLabelKeys.machineClass]: "pool",
      [ownerLabelKeys.token]: "token-of-uid-of-m",
    };
    const { instances, disks } = gce.inventory();
    expect(instances[0]?.resource).toMatchObject({ labels: owner, tags: { items: plainSpec.tags } });
    expect(disks).toMatchObject([{ name: "m", labels: owner }]);
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toEqual(made);
  });

  it("returns the same id for the same request", async () => {
    const { gce, driver } = await aCloud();
    const first = await driver.createMachine(aRequest(), aContext());
    const second = await driver.createMachine(aRequest(), aContext());
    expect(second).toEqual(first);
    expect(gce.inventory().instances).toHaveLength(1);
    expect(gce.log.count("instances.insert")).toBe(1);
  });

  it("makes one VM of twenty equal requests at once", async () => {
    const { gce, driver } = await aCloud({ operationMs: 50, provisioningMs: 40 });
    const made = await Promise.all(Array.from({ length: 20 }, () => driver.createMachine(aRequest(), aContext())));
    expect(new Set(made.map(({ providerId }) => providerId)).size).toBe(1);
    expect(gce.inventory().instances).toHaveLength(1);
    expect(gce.world.operations.size).toBe(1);
  });

  it("leaves a VM alone that was made from another spec", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const other = aRequest(aMachine("m"), { machineType: "n2-standard-4" });
    await expect(driver.createMachine(other, aContext())).rejects.toMatchObject({ code: "AlreadyExists" });
    expect(gce.inventory().instances[0]?.resource.machineType).toContain("n2-standard-2");
  });

  it.each<[string, object]>([
    ["of an earlier machine of the same name", { labels: { [ownerLabelKeys.machineUid]: "other" } }],
    ["of another cluster", { tags: { items: ["kubernetes-io-cluster-other", "kubernetes-io-role-node"] }, labels: {} }],
    ["without owner", { tags: { items: [] }, labels: {} }],
  ])("does not take a VM %s", async (_, change) => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [vm] = gce.world.instances.values();
    if (vm !== undefined) vm.resource = { ...vm.resource, ...change };
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining(idOf("m")),
    });
  });

  it("adopts the VM that MCM's driver has made, which has no labels of ours", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [vm] = gce.world.instances.values();
    if (vm !== undefined) vm.resource = { ...vm.resource, labels: {} };
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toMatchObject({ providerId: idOf("m") });
    expect(gce.log.count("instances.insert")).toBe(1);
  });

  it("adopts its VM when that could not be seen before", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const message = "The resource 'projects/my-project/zones/europe-west1-b/instances/m' was not found";
    gce.faults.add({ operation: "instances.get", end: { kind: "refuse", refusal: { code: "notFound", message } } });
    const again = { ...aRequest(), idempotencyToken: "second" };
    await expect(driver.createMachine(again, aContext())).resolves.toMatchObject({ providerId: idOf("m") });
    expect(gce.log.requests.map(({ operation, end }) => [operation, end])).toContainEqual(["instances.insert", 409]);
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("keeps the token when the end of an accepted launch cannot be read, and names the reason", async () => {
    const { gce, driver } = await aCloud({ operationMs: 500, provisioningMs: 500 });
    gce.faults.add({ operation: "zoneOperations.get", end: { kind: "refuse", refusal: { code: "forbidden" } } });
    const failure = await driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "Unavailable", message: expect.stringContaining("(forbidden)") });
    expect(failure).not.toHaveProperty("tokenIsSpent");
    // The next attempt finds a VM that is being made, and fails to read its operation as well.
    gce.faults.add({ operation: "zoneOperations.list", end: { kind: "refuse", refusal: { code: "forbidden" } } });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    await driver.createMachine(aRequest(), aContext());
    expect([gce.inventory().instances.length, gce.log.count("instances.insert")]).toEqual([1, 1]);
  });

  it.each([
    ["reset after the request was accepted", { kind: "reset" } as const, true],
    ["half an answer", { kind: "truncate" } as const, false],
    [
      "a proxy's page after the request was accepted",
      { kind: "reply", reply: { status: 502, body: "<html>" } } as const,
      true,
    ],
    [
      "nonsense after the request was accepted",
      { kind: "reply", reply: { status: 200, body: '{"id":{}}' } } as const,
      true,
    ],
  ])("makes one VM although the answer was lost: %s", async (_, end, afterAcceptance) => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.insert", end, afterAcceptance, times: 3 });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    gce.faults.clear();
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toMatchObject({ providerId: idOf("m") });
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("repeats a request whose answer was lost by itself, with the same request id", async () => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.insert", end: { kind: "reset" }, afterAcceptance: true });
    await driver.createMachine(aRequest(), aContext());
    const paths = gce.log.requests.filter(({ operation }) => operation === "instances.insert").map(({ path }) => path);
    expect(paths).toHaveLength(2);
    expect(new Set(paths).size).toBe(1);
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("waits until the operation is done", async () => {
    const { gce, driver, clock } = await aSlowCloud();
    const creating = driver.createMachine(aRequest(), aContext());
    await expect.poll(() => gce.log.count("zoneOperations.get")).toBeGreaterThan(2);
    clock.skip(60_000);
    await creating;
    expect(gce.inventory().instances).toMatchObject([{ status: "RUNNING" }]);
  });

  it("goes on waiting for the operation of a try that was killed, with other user data by then", async () => {
    const { gce, driver, clock, abortWaiting } = await aSlowCloud();
    expect(await abortWaiting((context) => driver.createMachine(aRequest(), context))).toMatchObject({
      code: "DeadlineExceeded",
    });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
    const waits = gce.log.count("zoneOperations.get");
    const creating = driver.createMachine({ ...aRequest(), userData: Secret.of("another token") }, aContext());
    await expect.poll(() => gce.log.count("zoneOperations.get")).toBeGreaterThan(waits);
    clock.skip(60_000);
    expect((await creating).providerId).toBe(idOf("m"));
    expect(gce.inventory().instances).toMatchObject([{ status: "RUNNING" }]);
    expect(gce.log.count("instances.insert")).toBe(1);
  });

  it("reports the failed operation of an interrupted attempt", async () => {
    const { gce, driver, clock, abortWaiting } = await aSlowCloud();
    gce.world.capacity.set("n2-standard-2", 0);
    await abortWaiting((context) => driver.createMachine(aRequest(), context));
    const creating = driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
    clock.skip(60_000);
    expect(await creating).toMatchObject({ code: "ResourceExhausted", tokenIsSpent: true });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("fails when Compute Engine does not name the started operation", async () => {
    const { gce, driver } = await aCloud();
    const reply = { status: 200, body: JSON.stringify({ kind: "compute#operation", status: "PENDING" }) };
    gce.faults.add({ operation: "instances.insert", end: { kind: "reply", reply }, afterAcceptance: true });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unknown" });
    await driver.createMachine(aRequest(), aContext());
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("asks for another token when the VM of this one was deleted", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await driver.deleteMachine(aRequest(), aContext());
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "Aborted",
      tokenIsSpent: true,
    });
    await driver.createMachine({ ...aRequest(), idempotencyToken: "second" }, aContext());
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("does not adopt a terminating VM", async () => {
    const { gce, driver, clock } = await aSlowCloud({ operationMs: 0, provisioningMs: 0, stagingMs: 0 });
    await driver.createMachine(aRequest(), aContext());
    gce.stop("m");
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    clock.skip(60_000);
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toMatchObject({ providerId: idOf("m") });
  });

  it("deletes a spot VM that was taken back before it was used, and asks for another token", async () => {
    const { gce, driver } = await aCloud();
    const request = aRequest(aMachine("m"), { scheduling: spotScheduling });
    await driver.createMachine(request, aContext());
    gce.reclaim("m");
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({
      code: "Aborted",
      tokenIsSpent: true,
      message: expect.stringContaining("reclaimed"),
    });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
    await driver.createMachine({ ...request, idempotencyToken: "second" }, aContext());
    expect(gce.inventory().instances).toMatchObject([{ status: "RUNNING" }]);
  });
});
