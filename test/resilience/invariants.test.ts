import { type Machine, machineResource } from "@millwright/core/machine-api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, startInstallation } from "../harness/installation.ts";
import { type InvariantWatch, watchInvariants } from "../harness/invariants.ts";

const namespace = "default";

/** Each invariant is violated by hand: no controller runs here. */
describe("the invariant watch", () => {
  let installation: Installation;
  let invariants: InvariantWatch;

  beforeEach(async () => {
    installation = await startInstallation({ deleteDelayMs: 50 });
    invariants = watchInvariants({ fleet: installation, maxVms: 3, alive: () => [], started: () => [] });
    for (const name of ["a", "b"]) {
      await makeMachine(name);
      await createVm(name);
    }
    await invariants.check();
  });
  afterEach(async () => {
    await invariants.close();
    await installation.close();
  });

  const place = { machineType: "small", region: "r1", zone: "r1-a", image: "linux" } as const;
  const createVm = (name: string, token = name) => installation.cloud.createVm({ name, token, ...place });
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
  /** Violations so far; empty when there are none. */
  const found = (): Promise<string> =>
    invariants.check().then(
      () => "",
      (error: unknown) => String(error),
    );

  it("reports too few machines, also when there are enough again", async () => {
    const release = invariants.requireRunningMachines(2);
    await eventually(async () => expect(await found()).toBe(""));
    await installation.api.delete(machineResource, { namespace, name: "b" });
    await makeMachine("b");
    await eventually(async () => expect(await found()).toContain("running machines: only 1, at least 2 are required"));
    // A past violation stays.
    release();
    await eventually(async () => expect(await found()).toContain("running machines: only 1, at least 2 are required"));
  });

  it("reports a missing VM of a Running machine", async () => {
    invariants.requireRunningMachines(2);
    await installation.cloud.deleteVm("b");
    await eventually(async () => expect(await found()).toContain("live VMs: only 1, at least 2 are required"));
  });

  it("reports a minimum that was never reached", async () => {
    invariants.requireRunningMachines(3);
    await eventually(async () => expect(await found()).toContain("running machines: never reached 3"));
  });

  it("reports too many VMs, for however short a time", async () => {
    await makeMachine("c");
    await createVm("c");
    await invariants.check();
    invariants.allowVms(2);
    await installation.cloud.tagVm("c", { any: "change" });
    await eventually(async () => expect(await found()).toContain("3 live VMs, at most 2 are allowed"));
  });

  it("reports a machine with two VMs", async () => {
    await createVm("a", "another");
    await eventually(async () => expect(await found()).toContain("machine a has 2 live VMs"));
  });

  it("reports a VM of a deleted machine", async () => {
    await installation.api.delete(machineResource, { namespace, name: "a" });
    await eventually(async () => expect(await found()).toContain("of deleted machine a"));
  });

  it("reports nothing when every invariant holds", async () => {
    const release = invariants.requireRunningMachines(2);
    await makeMachine("c");
    await createVm("c");
    await eventually(async () => expect(await found()).toBe(""));
    release();
    await installation.api.delete(machineResource, { namespace, name: "c" });
    await installation.cloud.deleteVm("c");
    expect(await found()).toBe("");
  });
});
