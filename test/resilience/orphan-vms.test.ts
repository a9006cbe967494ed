import {
  annotationKeys,
  type Machine,
  type MachineClass,
  machineClassResource,
  machineResource,
} from "@millwright/core/machine-api";
import { eventResource } from "@millwright/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type ManagedFleet, startManagedFleet } from "../harness/managed-fleet.ts";

const namespace = "default";
const FLEET = 3;
/** A VM without machine is that old before it is in quarantine, and machines join within that time. */
const settings = { creationTimeoutMs: 15_000 };
const LONG = 90_000;
let fleet: ManagedFleet;

beforeEach(async () => {
  fleet = await startManagedFleet(FLEET);
});
afterEach(() => fleet.close());

const vmIds = (): readonly string[] => fleet.cloud.vms().map(({ providerId }) => providerId);
const idsOf = (machines: readonly Machine[]): readonly string[] => machines.map(({ spec }) => spec.providerID ?? "");
const quarantine = async (): Promise<string> => {
  const ref = { namespace, name: "small" };
  const { metadata } = await fleet.api.get<MachineClass>(machineClassResource, ref);
  return metadata.annotations?.[annotationKeys.orphanVms] ?? "";
};
const reasons = async (): Promise<readonly unknown[]> =>
  (await fleet.api.list(eventResource, { namespace })).items.map(({ reason }) => reason);

/** Deletes a Machine object without its VM while no controller runs, as `kubectl patch` of its finalizers does. Returns the id of the VM. */
async function leak(): Promise<string> {
  const [machine] = await fleet.machines();
  const ref = { namespace, name: machine?.metadata.name ?? "" };
  await fleet.api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
  await fleet.api.delete(machineResource, ref);
  expect(await fleet.machines()).toHaveLength(FLEET - 1);
  return machine?.spec.providerID ?? "";
}

/** A fleet that has run, one of whose VMs has lost its machine. */
async function startWithLeak(): Promise<string> {
  const before = await fleet.manage({ settings });
  await fleet.untilRunning(FLEET);
  await before.stop();
  return leak();
}

it(
  "deletes a VM whose Machine lost its finalizer by hand, after a quarantine, and no other VM",
  { timeout: 200_000 },
  async () => {
    const lost = await startWithLeak();
    await fleet.manage({ settings });
    await eventually(async () => expect(await quarantine()).toContain(lost), LONG);
    await eventually(async () => expect(vmIds()).not.toContain(lost), LONG);
    await fleet.untilRunning(FLEET);
    expect(vmIds().toSorted()).toEqual(idsOf(await fleet.machines()).toSorted());
    await eventually(async () => expect(await quarantine()).toBe(""), LONG);
    expect(await reasons()).toEqual(expect.arrayContaining(["OrphanVMFound", "OrphanVMDeleted"]));
  },
);

it("continues the quarantine after a restart, and only reports in mode report", { timeout: 200_000 }, async () => {
  const lost = await startWithLeak();
  const first = await fleet.manage({ settings, orphanVms: "report" });
  await eventually(async () => expect(await quarantine()).toContain(lost), LONG);
  const since = await quarantine();
  await first.stop();
  expect(vmIds()).toContain(lost);
  await fleet.manage({ settings: { creationTimeoutMs: 600_000 } });
  expect(await quarantine()).toBe(since);
  // The creation timeout is not awaited a second time.
  await eventually(async () => expect(vmIds()).not.toContain(lost), LONG);
});

it("keeps a VM whose Machine names another one", { timeout: 200_000 }, async () => {
  const { stop } = await fleet.manage({ settings });
  await fleet.untilRunning(FLEET);
  const before = vmIds();
  // An id cannot be changed to another one, and controllers would write one that is missing.
  await stop();
  const [machine] = await fleet.machines();
  const write = (providerID: string | null) =>
    fleet.api.patch(
      machineResource,
      { namespace, name: machine?.metadata.name ?? "" },
      { spec: { providerID } },
      { kind: "merge" },
    );
  await write(null);
  await write("mock:///eu-1/i-none");
  await fleet.manage({ settings: { creationTimeoutMs: 1_000, healthTimeoutMs: 600_000 } });
  const lists = (): number => fleet.cloud.calls.filter(({ operation }) => operation === "list").length;
  const from = lists();
  await eventually(async () => expect(lists()).toBeGreaterThan(from + 8), LONG);
  expect(vmIds()).toEqual(expect.arrayContaining([...before]));
  expect(await quarantine()).toBe("");
});
