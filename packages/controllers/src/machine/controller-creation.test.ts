import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { type FakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it, vi } from "vitest";
import { aMachineClass, named } from "../testing/builders.ts";
import { ref, secretRef, setUp } from "../testing/machine-process.ts";

/** Lets every patch that stores the id of a VM fail until the returned function is called. */
function loseIds(api: FakeApi): () => void {
  const patch = api.patch.bind(api);
  const spy = vi
    .spyOn(api, "patch")
    .mockImplementation((type, ref, body, options) =>
      JSON.stringify(body).includes("providerID") ? Promise.reject(serverError()) : patch(type, ref, body, options),
    );
  return () => spy.mockRestore();
}

/** Someone takes the finalizer of the machine off, and deletes it, just before a patch that contains `text`. */
function deleteBefore(api: FakeApi, text: string): void {
  const patch = api.patch.bind(api);
  vi.spyOn(api, "patch").mockImplementation((type, target, body, options) => {
    if (JSON.stringify(body).includes(text)) api.remove(machineResource, ref);
    return patch(type, target, body, options);
  });
}

/** A machine that was deleted while its VM is being created, which ends with `release`. */
async function deletedInCreation() {
  const setup = setUp();
  setup.create();
  const release = setup.driver.hold();
  await setup.start();
  await setup.clock.advance(10);
  await setup.api.delete(machineResource, ref);
  return { ...setup, release };
}

describe("one VM per machine", () => {
  it("is found again by the next controller when the first died between VM and id", async () => {
    const { api, clock, driver, start, create, machine, phase } = setUp();
    create();
    const heal = loseIds(api);
    const first = await start();
    await clock.advance(10);
    expect(driver.vms.size).toBe(1);
    await first.stop();
    expect(machine()?.spec).not.toHaveProperty("providerID");

    heal();
    await start();
    await clock.advance(1_010);
    expect(driver.calls).toEqual(["ensureVm machine", "ensureVm machine"]);
    expect([...driver.vms]).toEqual([["uid-machine", "vm-1"]]);
    expect([machine()?.spec.providerID, phase()]).toEqual(["vm-1", "Pending"]);
  });

  it("keeps the outcome of a call until it is written, without a second call", async () => {
    const { api, clock, driver, start, create, phase } = setUp();
    create();
    api.inject({ verb: "patch", type: machineResource, error: serverError(), times: 3 });
    await start();
    await clock.advance(60_000);
    expect([phase(), driver.calls]).toEqual(["Pending", ["ensureVm machine"]]);
  });

  it("is deleted when the machine is deleted while the VM is being created, and another process records it first", async () => {
    const { api, clock, driver, machine, release } = await deletedInCreation();
    const annotations = { "machinepriority.machine.sapcloud.io": "3" };
    api.change(machineResource, ref, {
      metadata: { labels: { node: "node-of-machine" }, annotations },
      spec: { providerID: "vm-1" },
      status: { currentStatus: { phase: "Terminating" } },
    });
    await clock.advance(10_000);
    release();
    await clock.advance(10_000);
    expect([driver.vms.size, machine()]).toEqual([0, undefined]);
  });

  it("is recorded and deleted when the machine is deleted while the VM is being created", async () => {
    const { clock, driver, machine, release } = await deletedInCreation();
    await clock.advance(1_000);
    expect(driver.calls).toEqual(["ensureVm machine"]);
    release();
    await clock.advance(1_000);
    expect(driver.calls).toEqual(["ensureVm machine", "deleteVm machine"]);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });

  it.each([
    ["is not requested", "creation-intent", []],
    ["is deleted again", "providerID", ["ensureVm machine", "deleteVm machine"]],
  ])("%s when the machine turns out to be gone", async (_, text, calls) => {
    const { api, clock, driver, start, create } = setUp();
    create();
    deleteBefore(api, text);
    await start();
    await clock.advance(60_000);
    expect(api.peek(machineResource, ref)).toBeUndefined();
    expect([driver.calls, [...driver.vms]]).toEqual([calls, []]);
  });

  it("is adopted when its answer was lost", async () => {
    const { clock, driver, start, create, phase } = setUp();
    create();
    driver.fail("ensureVm", "DeadlineExceeded", 1, "after");
    await start();
    await clock.advance(10);
    expect(phase()).toBe("CrashLoopBackOff");
    await clock.advance(5_000);
    expect([phase(), driver.vms.size]).toEqual(["Pending", 1]);
  });
});

describe("many machines of a class", () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `m${String(index).padStart(2, "0")}`);
  const codes = (api: FakeApi) =>
    api.all<Machine>(machineResource).map(({ status }) => status?.lastOperation?.errorCode);

  it("run fifty at a time", async () => {
    const { clock, driver, start, create } = setUp();
    for (const name of names(80)) create(named(name));
    const release = driver.hold();
    await start();
    await clock.advance(1_000);
    expect(driver.calls).toHaveLength(50);
    release();
    await clock.advance(1_000);
    expect([driver.calls.length, driver.vms.size]).toEqual([80, 80]);
  });

  it("without quota: one of them retries, the others report what they wait for, with one write each, and follow it", async () => {
    const { api, clock, driver, start, create, writes } = setUp();
    for (const name of names(40)) create(named(name), { spec: { creationTimeout: "2h" } });
    driver.fail("ensureVm", "ResourceExhausted", 1_000);
    await start();
    await clock.advance(10_000);
    expect(new Set(codes(api))).toEqual(new Set(["ResourceExhausted"]));
    // Some had begun before the first answer.
    expect(driver.calls.length).toBeLessThanOrEqual(21);
    const written = writes().length;
    const called = driver.calls.length;
    await clock.advance(10 * 60_000);
    expect(driver.calls.length - called).toBeLessThanOrEqual(5);
    expect(writes().length - written).toBeLessThanOrEqual(15);

    driver.faults.length = 0;
    await clock.advance(11 * 60_000);
    expect(driver.vms.size).toBe(40);
  });

  it("without quota do not hold back those of another class of the same zone, nor those with another placement", async () => {
    const { api, clock, driver, start, create } = setUp();
    const nodeTemplate = { capacity: { cpu: 1, gpu: 0, memory: "1Gi" }, region: "r", zone: "a" };
    api.change(machineClassResource, secretRef, { nodeTemplate: { ...nodeTemplate, instanceType: "s" } });
    api.seed(
      machineClassResource,
      aMachineClass(named("large"), { nodeTemplate: { ...nodeTemplate, instanceType: "l" } }),
    );
    const placed = { spec: { nodeTemplate: { metadata: { annotations: { placement: "host" } } } } };
    const isCreationRejected = ({ metadata }: Machine) => metadata.name.startsWith("m");
    driver.faults.push({
      method: "ensureVm",
      code: "ResourceExhausted",
      times: 1_000,
      after: false,
      of: isCreationRejected,
    });
    for (const name of names(30)) create(named(name));
    await start();
    await clock.advance(1_000);
    for (const name of names(30)) {
      create(named(`large-${name}`), { spec: { class: { name: "large" } } });
      create(named(`placed-${name}`), placed);
    }
    await clock.advance(1_000);
    const made = [...driver.vms.keys()];
    expect(made.filter((uid) => uid.startsWith("uid-large-"))).toHaveLength(30);
    expect(made.filter((uid) => uid.startsWith("uid-placed-"))).toHaveLength(30);
    expect(made).toHaveLength(60);
  });

  it("are retried at once when their secret is fixed", async () => {
    const { api, clock, driver, start, create } = setUp();
    for (const name of names(30)) create(named(name));
    driver.fail("ensureVm", "Unauthenticated", 24);
    await start();
    await clock.advance(60_000);
    expect(driver.vms.size).toBe(0);
    driver.faults.length = 0;
    api.change(secretResource, secretRef, { data: { token: "bmV3" } });
    await clock.advance(1_000);
    expect(driver.vms.size).toBe(30);
  });
});
