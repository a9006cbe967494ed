import { type Machine, machineResource } from "@millwright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, startInstallation } from "../harness/installation.ts";
import { type InvariantWatch, watchInvariants } from "../harness/invariants.ts";

const namespace = "default";

/** What is watched through rollouts, broken by hand: nobody looks after machines here. */
describe("the invariants of rollouts", () => {
  let installation: Installation;
  let invariants: InvariantWatch;

  beforeEach(async () => {
    installation = await startInstallation({ deleteDelayMs: 50 });
    invariants = watchInvariants({ fleet: installation, maxVms: 3, alive: () => [], started: () => [] });
    for (const name of ["a", "b"]) {
      await makeMachine(name);
      await makeVm(name);
    }
    await invariants.check();
  });
  afterEach(async () => {
    await invariants.close();
    await installation.close();
  });

  const place = { machineType: "small", region: "r1", zone: "r1-a", image: "linux" } as const;
  const makeVm = (name: string, token = name) => installation.cloud.createVm({ name, token, ...place });
  const makeMachine = async (name: string): Promise<void> => {
    const ref = { namespace, name };
    await installation.api.create(machineResource, {
      apiVersion: "machine.sapcloud.io/v1alpha1",
      kind: "Machine",
      metadata: ref,
      spec: { class: { kind: "MachineClass", name: "small" } },
    });
    const status = { currentStatus: { phase: "Running" } };
    await installation.api.patch<Machine>(machineResource, ref, { status }, { kind: "merge", subresource: "status" });
  };
  /** What is wrong so far, as far as the watch has seen it; empty when all is well. */
  const found = (): Promise<string> =>
    invariants.check().then(
      () => "",
      (error: unknown) => String(error),
    );

  it("find fewer machines than are promised, also when there are enough again", async () => {
    const release = invariants.requireRunningMachines(2);
    await eventually(async () => expect(await found()).toBe(""));
    await installation.api.delete(machineResource, { namespace, name: "b" });
    await makeMachine("b");
    await eventually(async () => expect(await found()).toContain("machines that run: only 1, at least 2 are required"));
    // What was wrong for a moment stays so.
    release();
    await eventually(async () => expect(await found()).toContain("machines that run: only 1, at least 2 are required"));
  });

  it("find a VM that is missing while its machine says that it runs", async () => {
    invariants.requireRunningMachines(2);
    await installation.cloud.deleteVm("b");
    await eventually(async () => expect(await found()).toContain("live VMs: only 1, at least 2 are required"));
  });

  it("find a promise that never was kept", async () => {
    invariants.requireRunningMachines(3);
    await eventually(async () => expect(await found()).toContain("machines that run: there never were 3"));
  });

  it("find more VMs than there may be, for however short a time", async () => {
    await makeMachine("c");
    await makeVm("c");
    await invariants.check();
    invariants.allowVms(2);
    await installation.cloud.tagVm("c", { any: "change" });
    await eventually(async () => expect(await found()).toContain("I2: 3 live VMs, at most 2 are allowed"));
  });

  it("find a machine that has two VMs", async () => {
    await makeVm("a", "another");
    await eventually(async () => expect(await found()).toContain("I1: machine a has 2 live VMs"));
  });

  it("find a VM whose machine is gone", async () => {
    await installation.api.delete(machineResource, { namespace, name: "a" });
    await eventually(async () => expect(await found()).toContain("of machine a, which is gone"));
  });

  it("find nothing where nothing is wrong", async () => {
    const release = invariants.requireRunningMachines(2);
    await makeMachine("c");
    await makeVm("c");
    await eventually(async () => expect(await found()).toBe(""));
    release();
    await installation.api.delete(machineResource, { namespace, name: "c" });
    await installation.cloud.deleteVm("c");
    expect(await found()).toBe("");
  });
});
