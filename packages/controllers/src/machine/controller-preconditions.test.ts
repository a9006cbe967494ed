import { isRecord } from "@millwright/base";
import { type MachineClass, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { ApiError, nodeResource, secretResource } from "@millwright/kube";
import { serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineClass, type Change, named, testNamespace } from "../testing/builders.ts";
import { aSecret, ref, secretRef, setUp } from "../testing/machine-process.ts";

describe("failure", () => {
  it("is retried after its backoff, not before, until the machine is Failed", async () => {
    const { clock, driver, start, create, phase } = setUp();
    create({ metadata: { creationTimestamp: "2026-01-01T00:00:00Z" } });
    driver.fail("ensureVm", "Internal", 1_000);
    await start();
    await clock.advance(7_900);
    expect([phase(), driver.calls.length]).toEqual(["CrashLoopBackOff", 1]);
    await clock.advance(2_200);
    expect([phase(), driver.calls.length]).toEqual(["CrashLoopBackOff", 2]);
    // 10, 20, 40, 80, 160 s, then every 3 min, less up to a fifth.
    await clock.advance(23 * 60_000);
    const calls = driver.calls.length;
    expect([phase(), calls > 8 && calls < 15]).toEqual(["Failed", true]);
    await clock.advance(24 * 3_600_000);
    expect([phase(), driver.calls.length]).toEqual(["Failed", calls]);
  });

  it("of a node to join makes the machine Failed after the creation timeout", async () => {
    const { clock, start, create, phase } = setUp();
    create();
    await start();
    await clock.advance(20 * 60_000);
    expect(phase()).toBe("Pending");
    await clock.advance(2);
    expect(phase()).toBe("Failed");
  });

  it("of a deletion keeps the machine until the VM is deleted", async () => {
    const { api, clock, driver, start, create, machine } = setUp();
    create();
    await start();
    await clock.advance(10);
    driver.fail("deleteVm", "Unavailable", 2);
    driver.fail("deleteVm", "PermissionDenied", 1);
    await api.delete(machineResource, ref);
    await clock.advance(5_000);
    expect(machine()?.status?.lastOperation).toMatchObject({ state: "Failed", type: "Delete" });
    expect(driver.calls.filter((call) => call.startsWith("deleteVm"))).toHaveLength(3);
    await clock.advance(600_000);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });
});

describe("what cannot work", () => {
  type Setup = ReturnType<typeof setUp>;
  const breakClass = ({ api }: Setup) => api.change(machineClassResource, secretRef, { provider: null });
  const setUpStrict = () =>
    setUp({
      rejects: ({ providerSpec }, secret) => {
        if (isRecord(providerSpec) && "color" in providerSpec)
          return { reason: "InvalidMachineClass", problem: "providerSpec.color: is unknown" };
        return "token" in (secret ?? {}) ? { reason: "InvalidSecret", problem: "secret.token: is unknown" } : undefined;
      },
    });
  const causes: readonly [string, (setup: Setup) => unknown, (setup: Setup) => unknown, string][] = [
    [
      "a missing class",
      ({ api }) => api.remove(machineClassResource, secretRef),
      ({ api }) => api.seed(machineClassResource, aMachineClass()),
      'MachineClass "small" does not exist',
    ],
    [
      "an invalid class",
      breakClass,
      ({ api }) => api.change<MachineClass>(machineClassResource, secretRef, { provider: "mock" }),
      'MachineClass "small": provider:',
    ],
    [
      "a class of another driver",
      ({ api }) => api.change(machineClassResource, secretRef, { provider: "aws" }),
      ({ api }) => api.change(machineClassResource, secretRef, { provider: "mock" }),
      'MachineClass "small": provider: no driver "aws" is loaded',
    ],
    [
      "a missing secret",
      ({ api }) => api.remove(secretResource, secretRef),
      ({ api }) => api.seed(secretResource, aSecret({ userData: "x" })),
      'Secret "small" does not exist',
    ],
    [
      "missing user data",
      ({ api }) => api.change(secretResource, secretRef, { data: { userData: null } }),
      ({ api }) => api.change(secretResource, secretRef, { data: aSecret({ userData: "x" }).data }),
      'key "userData" is missing in Secret "small"',
    ],
    [
      "a spec that the driver rejects",
      ({ api }) => api.change(machineClassResource, secretRef, { providerSpec: { color: "red" } }),
      ({ api }) => api.change(machineClassResource, secretRef, { providerSpec: { color: null } }),
      "providerSpec.color: is unknown",
    ],
    [
      "a secret that the driver rejects",
      ({ api }) => api.change(secretResource, secretRef, aSecret({ token: "x" })),
      ({ api }) => api.change(secretResource, secretRef, { data: { token: null } }),
      "secret.token: is unknown",
    ],
  ];
  it.each(causes)(
    "because of %s is reported in one line and one write, costs no reconcile, and continues when fixed",
    async (_, harm, fix, text) => {
      const setup = setUpStrict();
      const { api, clock, driver, start, create, machine, phase } = setup;
      harm(setup);
      create();
      const process = await start();
      await clock.advance(10);
      expect(phase()).toBe("CrashLoopBackOff");
      expect(machine()?.status?.lastOperation?.description).toContain(text);
      expect(machine()?.status?.lastOperation?.description).not.toContain("\n");
      const reconciles = process.reconciles();
      await clock.advance(600_000);
      expect([api.writes().length, driver.calls, process.reconciles() - reconciles]).toEqual([1, [], 0]);
      fix(setup);
      await clock.advance(10);
      expect(phase()).toBe("Pending");
    },
  );

  it.each(causes)("because of %s keeps no machine from being deleted", async (_, harm) => {
    const setup = setUpStrict();
    const { api, clock, driver, start, create, machine, phase } = setup;
    harm(setup);
    create({ metadata: { finalizers: null } });
    await start();
    await clock.advance(10);
    expect([phase(), machine()?.metadata.finalizers?.length]).toEqual(["CrashLoopBackOff", 1]);
    await api.delete(machineResource, ref);
    await clock.advance(10);
    expect([machine(), driver.calls]).toEqual([undefined, []]);
  });

  it("is checked once for a version of the class and its secrets", async () => {
    let checks = 0;
    const { api, clock, start } = setUp({ rejects: () => void checks++ });
    for (const name of ["a", "b", "c"]) api.seed(machineResource, aMachine(named(name)));
    await start();
    await clock.advance(10);
    expect(checks).toBe(1);
    api.change(secretResource, secretRef, { data: aSecret({ userData: "y" }).data });
    api.seed(machineResource, aMachine(named("d")));
    await clock.advance(10);
    expect(checks).toBe(2);
  });

  it("because of one class enqueues no machine of another", async () => {
    const { api, clock, start, create } = setUp();
    create();
    const process = await start();
    await clock.advance(2_000);
    const reconciles = process.reconciles();
    api.seed(machineClassResource, aMachineClass(named("large")));
    api.seed(secretResource, { metadata: { namespace: testNamespace, name: "unrelated" } });
    await clock.advance(2_000);
    expect(process.reconciles()).toBe(reconciles);
    api.change(secretResource, secretRef, { data: { more: "eA==" } });
    await clock.advance(2_000);
    expect(process.reconciles()).toBeGreaterThan(reconciles);
  });

  it("because the driver rejects it is retried as soon as the class changes", async () => {
    const { api, clock, driver, start, create, phase } = setUp();
    driver.fail("ensureVm", "InvalidArgument", 1);
    create();
    await start();
    await clock.advance(10);
    expect(phase()).toBe("CrashLoopBackOff");
    api.change(machineClassResource, secretRef, { providerSpec: { size: 2 } });
    await clock.advance(10);
    expect([phase(), driver.calls.length]).toEqual(["Pending", 2]);
  });

  it("because the node rejects its template does not keep the machine from Running", async () => {
    const { api, clock, start, create, join, phase } = setUp();
    api.inject({ verb: "patch", type: nodeResource, error: serverError(), times: 1_000 });
    create();
    await start();
    await clock.advance(10);
    join();
    await clock.advance(10);
    expect(phase()).toBe("Running");
  });
});

describe("a machine whose class was deleted", () => {
  const taken = async (...twin: readonly Change<MachineClass>[]) => {
    const setup = setUp();
    const { api, clock, start, create } = setup;
    api.seed(machineClassResource, aMachineClass(named("twin"), ...twin));
    create();
    await start();
    await clock.advance(10);
    api.remove(machineClassResource, secretRef);
    await api.delete(machineResource, ref);
    await clock.advance(1_000);
    return setup;
  };

  it("is deleted through another class of the same driver, region and credentials", async () => {
    const { driver, machine } = await taken();
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });

  it("is deleted as soon as there is a fallback class", async () => {
    const { api, clock, driver, machine } = await taken({ secretRef: { name: "other" } });
    expect(driver.vms.size).toBe(1);
    api.seed(machineClassResource, aMachineClass(named("later")));
    await clock.advance(1_000);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });

  it("keeps its VM otherwise, reports what to restore, and continues when that is done", async () => {
    const { api, clock, driver, machine } = await taken({ secretRef: { name: "other" } });
    expect(machine()?.status?.lastOperation?.description).toContain(
      'its VM was created by driver "mock" from MachineClass "small" with Secret "small": restore them',
    );
    expect(driver.vms.size).toBe(1);
    api.seed(machineClassResource, aMachineClass({ metadata: { uid: "uid-of-the-next" } }));
    await clock.advance(1_000);
    expect([machine(), driver.vms.size]).toEqual([undefined, 0]);
  });
});

it("reports in the machine what the API server rejects during its deletion, once, and continues when it is allowed", async () => {
  const { api, clock, start, create, join, machine } = setUp();
  create();
  await start();
  await clock.advance(10);
  join();
  await clock.advance(10);
  api.inject({ verb: "patch", type: nodeResource, times: 5, error: serverError() });
  await api.delete(machineResource, ref);
  await clock.advance(100);
  expect(machine()?.status?.lastOperation).toMatchObject({
    state: "Failed",
    description: expect.stringMatching(/^Drain failed due to - .* Will retry in next sync\. Initiate node drain$/),
  });
  await clock.advance(120_000);
  expect(machine()).toBeUndefined();
});

it("is Terminating with the reason while the API server of the nodes is unreachable", async () => {
  const { api, clock, driver, start, create, join, machine, phase } = setUp();
  create();
  await start();
  await clock.advance(10);
  join();
  await clock.advance(10);
  const error = new ApiError({ status: 0, reason: "", message: "socket hang up" });
  api.inject({ verb: "patch", type: nodeResource, times: 1_000, error });
  await api.delete(machineResource, ref);
  await clock.advance(100);
  expect(phase()).toBe("Terminating");
  expect(machine()?.status?.lastOperation?.description).toBe(
    "Drain failed due to - the API server of the nodes is unreachable; if it is gone for good, set the label force-deletion=True. Will retry in next sync. Initiate node drain",
  );
  const writes = api.writes().length;
  await clock.advance(60_000);
  const repeated = api.writes().slice(writes);
  expect(repeated.filter(({ resource }) => resource.startsWith("machines"))).toEqual([]);
  expect(driver.vms.size).toBe(1);
});

it("stores that the VM is deleted although its node cannot be", async () => {
  const { api, clock, driver, start, stopAll, create, join, machine } = setUp();
  create();
  await start();
  await clock.advance(10);
  join();
  await clock.advance(10);
  const error = new ApiError({ status: 0, reason: "", message: "socket hang up" });
  api.inject({ verb: "delete", type: nodeResource, times: 1_000, error });
  await api.delete(machineResource, ref);
  await clock.advance(20_000);
  expect(machine()?.status?.lastOperation?.description).toBe(
    "VM deletion was successful. Machine deletion failed due to - the API server of the nodes is unreachable; if it is gone for good, set the label force-deletion=True. Will retry in next sync. Initiate node object deletion",
  );
  const calls = driver.calls.length;
  await stopAll();
  await start();
  await clock.advance(60_000);
  expect(driver.calls.length).toBe(calls);
});
