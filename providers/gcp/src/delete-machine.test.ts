import { createSkippingClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, aSlowCloud, plainSpec, spotScheduling } from "./testing/gcp-cloud.ts";

const providerId = "gce:///my-project/europe-west1-b/m";
const known = (spec: object = {}) => aRequest(aMachine("m", { providerId }), { ...spec });
const nothing = { instances: [], disks: [] };

describe("deleting a machine", () => {
  it("resolves when the VM is gone, and leaves nothing of it", async () => {
    const { gce, driver } = await aCloud({ operationMs: 60 });
    await driver.createMachine(aRequest(), aContext());
    await expect(driver.deleteMachine(known(), aContext())).resolves.toEqual({ vm: "ended" });
    expect(gce.inventory()).toEqual(nothing);
  });

  it("finds the VM without its id", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await driver.deleteMachine(aRequest(), aContext());
    expect(gce.inventory()).toEqual(nothing);
  });

  it("finds the VM in a zone of the fallbacks", async () => {
    const { gce, driver } = await aCloud();
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0);
    const request = aRequest(aMachine("m"), { fallbacks: [{ zone: "europe-west1-c" }] });
    await driver.createMachine(request, aContext());
    await driver.deleteMachine(request, aContext());
    expect(gce.inventory()).toEqual(nothing);
  });

  it("counts a VM that is not there as deleted: again, and one that never was", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await driver.deleteMachine(known(), aContext());
    await driver.deleteMachine(known(), aContext());
    await driver.deleteMachine(aRequest(), aContext());
    expect(gce.log.count("instances.delete")).toBe(1);
  });

  it("counts a VM as deleted that goes while it is asked to", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const message = "The resource 'projects/my-project/zones/europe-west1-b/instances/m' was not found";
    const end = { kind: "refuse", refusal: { code: "notFound", message } } as const;
    gce.faults.add({ operation: "instances.delete", end, afterAcceptance: true });
    await expect(driver.deleteMachine(known(), aContext())).resolves.toEqual({ vm: "ended" });
  });

  it("counts a VM as deleted that another client deleted first", async () => {
    const { gce, driver } = await aCloud({ operationMs: 5 });
    await driver.createMachine(aRequest(), aContext());
    const errors = [{ code: "RESOURCE_NOT_FOUND", message: "The resource 'm' was not found" }];
    const body = JSON.stringify({ id: "1", name: "o", status: "DONE", error: { errors }, httpErrorStatusCode: 404 });
    gce.faults.add({ operation: "zoneOperations.get", end: { kind: "reply", reply: { status: 200, body } } });
    await expect(driver.deleteMachine(known(), aContext())).resolves.toEqual({ vm: "ended" });
    expect(gce.inventory()).toEqual(nothing);
  });

  it("repeats a request whose answer was lost, with the same request id", async () => {
    const { gce, driver } = await aCloud({ operationMs: 30 });
    await driver.createMachine(aRequest(), aContext());
    gce.faults.add({ operation: "instances.delete", end: { kind: "reset" }, afterAcceptance: true });
    await driver.deleteMachine(known(), aContext());
    expect(gce.inventory()).toEqual(nothing);
    expect(gce.log.count("instances.delete")).toBe(2);
  });

  it("looks once more for a VM that was accepted a moment ago and cannot be seen yet", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const message = "The resource 'projects/my-project/zones/europe-west1-b/instances/m' was not found";
    gce.faults.add({ operation: "instances.get", end: { kind: "refuse", refusal: { code: "notFound", message } } });
    await driver.deleteMachine(aRequest(), aContext());
    expect(gce.inventory()).toEqual(nothing);
  });

  it("looks once more also where another owner has a VM of that name in another zone of the class", async () => {
    const { gce, driver } = await aCloud();
    const other = "europe-west1-c";
    await driver.createMachine(
      aRequest(aMachine("m", { uid: "other", namespace: "other" }), { zone: other }),
      aContext(),
    );
    const request = aRequest(aMachine("m"), { fallbacks: [{ zone: other }] });
    const { instances } = gce.world;
    const [stranger = never()] = instances.values();
    // Without the stranger's VM the name is free.
    const strangers = [...instances].filter(([, vm]) => vm === stranger);
    instances.clear();
    await driver.createMachine(request, aContext());
    for (const [key, vm] of strangers) instances.set(key, vm);
    const message = "The resource 'projects/my-project/zones/europe-west1-b/instances/m' was not found";
    gce.faults.add({ operation: "instances.get", end: { kind: "refuse", refusal: { code: "notFound", message } } });
    await expect(driver.deleteMachine(request, aContext())).resolves.toEqual({ vm: "ended" });
    expect(gce.inventory().instances).toMatchObject([{ zone: other }]);
  });

  it("does not wait for a VM that cannot exist: Compute Engine got no recent request for it, or the request failed", async () => {
    const { gce, driver } = await aCloud({ operationMs: 5 }, { pollTimes: { visibleMs: 60_000 } });
    const clock = createSkippingClock();
    const context = { ...aContext(), clock };
    const make = (name: string) => driver.createMachine(aRequest(aMachine(name)), context);
    const looksFor = async (name: string): Promise<number> => {
      gce.log.clear();
      await driver.deleteMachine(aRequest(aMachine(name)), context);
      return gce.log.count("instances.get");
    };
    // This process has only just begun: the one before it may have asked.
    expect(await looksFor("a")).toBe(2);
    clock.skip(60_000);
    expect(await looksFor("a")).toBe(1);

    const refusal = { code: "invalid", message: "Invalid value for field 'resource'" };
    gce.faults.add({ operation: "instances.insert", end: { kind: "refuse", refusal } });
    await expect(make("a")).rejects.toMatchObject({ code: "InvalidArgument" });
    expect(await looksFor("a")).toBe(1);

    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0);
    await expect(make("a")).rejects.toMatchObject({ code: "ResourceExhausted" });
    expect(await looksFor("a")).toBe(1);

    gce.faults.add({ operation: "instances.insert", times: 3, end: { kind: "reset" } });
    await expect(make("a")).rejects.toMatchObject({ code: "Unavailable" });
    expect(await looksFor("b")).toBe(1);
    expect(await looksFor("a")).toBe(2);
    clock.skip(60_000);
    expect(await looksFor("a")).toBe(1);

    // Rejected in the end; but the first request may have succeeded.
    gce.faults.add({ operation: "instances.insert", end: { kind: "reset" } });
    gce.faults.add({ operation: "instances.insert", end: { kind: "refuse", refusal } });
    await expect(make("b")).rejects.toMatchObject({ code: "InvalidArgument" });
    expect(await looksFor("b")).toBe(2);
  });

  it("waits for a VM of whose operation it has not learnt the end", async () => {
    const { gce, driver, clock, abortWaiting } = await aSlowCloud();
    await driver.deleteMachine(aRequest(aMachine("other")), { ...aContext(), clock });
    clock.skip(600_000);
    await abortWaiting((context) => driver.createMachine(aRequest(), { ...context, clock }));
    const message = "The resource 'projects/my-project/zones/europe-west1-b/instances/m' was not found";
    gce.faults.add({ operation: "instances.get", end: { kind: "refuse", refusal: { code: "notFound", message } } });
    const deleting = driver.deleteMachine(aRequest(), { ...aContext(), clock });
    await expect.poll(() => gce.log.count("instances.delete")).toBe(1);
    clock.skip(60_000);
    await deleting;
    expect(gce.inventory()).toEqual(nothing);
  });

  it("ends a VM that is still being made", async () => {
    const { gce, driver, clock, abortWaiting } = await aSlowCloud();
    await abortWaiting((context) => driver.createMachine(aRequest(), context));
    expect(gce.inventory().instances).toMatchObject([{ status: "PROVISIONING" }]);
    const deleting = driver.deleteMachine(aRequest(), aContext());
    await expect.poll(() => gce.log.count("instances.delete")).toBe(1);
    clock.skip(60_000);
    await deleting;
    expect(gce.inventory()).toEqual(nothing);
  });

  it("waits for a deletion of another client", async () => {
    const { gce, driver } = await aCloud({ operationMs: 80 });
    await driver.createMachine(aRequest(), aContext());
    await Promise.all([driver.deleteMachine(known(), aContext()), driver.deleteMachine(known(), aContext())]);
    expect(gce.inventory()).toEqual(nothing);
  });

  it.each<[string, object]>([
    [
      "of a machine of the same name in another namespace",
      { labels: { "millwright-machine-uid": "other", "millwright-namespace": "other" } },
    ],
    ["of another cluster", { tags: { items: ["kubernetes-io-cluster-other", "kubernetes-io-role-node"] }, labels: {} }],
    ["of two clusters", { tags: { items: [...plainSpec.tags, "kubernetes-io-cluster-other"] }, labels: {} }],
    ["of another role", { tags: { items: ["kubernetes-io-cluster-shoot", "kubernetes-io-role-other"] }, labels: {} }],
    ["without tags", { tags: { items: [] }, labels: {} }],
  ])("keeps a VM that is %s, with PermissionDenied", async (_, change) => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [vm] = gce.world.instances.values();
    if (vm !== undefined) vm.resource = { ...vm.resource, ...change };
    await expect(driver.deleteMachine(known(), aContext())).rejects.toMatchObject({
      code: "PermissionDenied",
      message: expect.stringContaining("kept"),
    });
    await driver.deleteMachine(aRequest(), aContext());
    expect(gce.inventory().instances).toHaveLength(1);
    expect(gce.log.count("instances.delete")).toBe(0);
  });

  it("deletes the VM of a class whose tags were changed since, with its id and without", async () => {
    const tags = ["kubernetes-io-cluster-new", "kubernetes-io-role-new"];
    for (const request of [known({ tags }), aRequest(aMachine("m"), { tags })]) {
      const { gce, driver } = await aCloud();
      await driver.createMachine(aRequest(), aContext());
      await driver.deleteMachine(request, aContext());
      expect(gce.inventory()).toEqual(nothing);
    }
  });

  it("leaves the VM of another machine alone that the id names", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await expect(driver.deleteMachine(aRequest(aMachine("n", { providerId })), aContext())).rejects.toMatchObject({
      code: "PermissionDenied",
    });
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("deletes the VM that MCM's driver has made, which has no labels of ours", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [vm] = gce.world.instances.values();
    if (vm !== undefined) vm.resource = { ...vm.resource, labels: {} };
    await driver.deleteMachine(known(), aContext());
    expect(gce.inventory()).toEqual(nothing);
  });

  it("looks where the VM is, not where its class points to by now", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await driver.deleteMachine(known({ zone: "europe-west1-c" }), aContext());
    expect(gce.inventory()).toEqual(nothing);
  });

  it("deletes a spot VM that was taken back, and one that has vanished with it", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), { scheduling: spotScheduling }), aContext());
    gce.reclaim("m");
    await driver.deleteMachine(known({ scheduling: spotScheduling }), aContext());
    expect(gce.inventory()).toEqual(nothing);
    await driver.deleteMachine(known({ scheduling: spotScheduling }), aContext());
  });

  it.each(["gce:///p/zone/", "nonsense", "aws:///eu-west-1/i-1", "gce:///a/b/c/d", "gce:///my-project/../m"])(
    "refuses the provider id %s",
    async (id) => {
      const { gce, driver } = await aCloud();
      const request = aRequest(aMachine("m", { providerId: id }));
      await expect(driver.deleteMachine(request, aContext())).rejects.toMatchObject({ code: "InvalidArgument" });
      expect(gce.log.count()).toBe(0);
    },
  );

  it("names the remedy for deletion protection", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), { deletionProtection: true }), aContext());
    await expect(driver.deleteMachine(known(), aContext())).rejects.toMatchObject({
      code: "FailedPrecondition",
      message: expect.stringContaining("disable it"),
    });
    expect(gce.log.count("instances.delete")).toBe(0);
    const [vm] = gce.world.instances.values();
    if (vm === undefined) throw new Error("there is no VM");
    vm.resource = { ...vm.resource, deletionProtection: false };
    const refusal = {
      code: "resourceInUseByAnotherResource",
      message: "Resource cannot be deleted if it's protected against deletion.",
    };
    gce.faults.add({ operation: "instances.delete", end: { kind: "refuse", refusal } });
    await expect(driver.deleteMachine(known(), aContext())).rejects.toMatchObject({
      code: "FailedPrecondition",
      message: expect.stringContaining("disable deletion protection of the VM"),
    });
  });

  it("reports its failed operation", async () => {
    const { gce, driver } = await aCloud({ operationMs: 10 });
    await driver.createMachine(aRequest(), aContext());
    const operation = {
      id: "1",
      name: "o",
      status: "DONE",
      error: {
        errors: [
          { code: "QUOTA_EXCEEDED", message: "a" },
          { code: "X", message: "b" },
        ],
      },
      httpErrorStatusCode: 403,
    };
    gce.faults.add({
      operation: "zoneOperations.get",
      end: { kind: "reply", reply: { status: 200, body: JSON.stringify(operation) } },
    });
    await expect(driver.deleteMachine(known(), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: "deleting VM m in europe-west1-b (my-project): a; b (QUOTA_EXCEEDED)",
    });
  });

  it("stops waiting when the deadline has passed, and goes on the next time", async () => {
    const { gce, driver, clock, abortWaiting } = await aSlowCloud({ provisioningMs: 0, stagingMs: 0 });
    const creating = driver.createMachine(aRequest(), aContext());
    await expect.poll(() => gce.log.count("zoneOperations.get")).toBeGreaterThan(0);
    clock.skip(60_000);
    await creating;
    expect(await abortWaiting((context) => driver.deleteMachine(known(), context))).toMatchObject({
      code: "DeadlineExceeded",
    });
    const deleting = driver.deleteMachine(known(), aContext());
    await expect.poll(() => gce.log.count("instances.delete")).toBeGreaterThan(1);
    clock.skip(60_000);
    await deleting;
    expect(gce.inventory()).toEqual(nothing);
  });
});

const never = (): never => {
  throw new Error("there is no VM");
};
