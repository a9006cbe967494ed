import {
  annotationKeys,
  machineApiVersion,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type ManagedFleet, startManagedFleet } from "../harness/managed-fleet.ts";

const namespace = "default";
/** A VM without machine is that old before it is in quarantine, and machines join within that time. */
const settings = { creationTimeoutMs: 15_000 };
const LONG = 120_000;
let fleet: ManagedFleet;
afterEach(() => fleet.close());

/** Deletes a Machine object without its VM while no controller runs. */
async function lose(name: string): Promise<void> {
  const ref = { namespace, name };
  await fleet.api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
  await fleet.api.delete(machineResource, ref);
}
const theSet = async (): Promise<MachineSet | undefined> =>
  (await fleet.api.list<MachineSet>(machineSetResource, { namespace })).items[0];
const record = async (): Promise<string | undefined> =>
  (await theSet())?.metadata.annotations?.[annotationKeys.expectedReplicas];

it.each(["under a process", "while none runs"])(
  "keeps the VMs of lost Machines for a person when replicas are lowered %s, and collects other VMs meanwhile",
  { timeout: 400_000 },
  async (when) => {
    fleet = await startManagedFleet(14);
    const { api, cloud } = fleet;
    const spec = { class: { kind: "MachineClass", name: "small" } };
    await api.create(machineResource, {
      apiVersion: machineApiVersion,
      kind: "Machine",
      metadata: { name: "single", namespace },
      spec,
    });
    const before = await fleet.manage({ settings });
    await eventually(async () => {
      const phases = (await fleet.machines()).map(phaseOf);
      expect(phases).toEqual(Array.from({ length: 15 }, () => "Running"));
    }, LONG);
    await before.stop();
    const machines = (await fleet.machines()).filter(({ metadata }) => metadata.name !== "single");
    const single = (await fleet.machines()).find(({ metadata }) => metadata.name === "single")?.spec.providerID;
    for (const { metadata } of machines.slice(2)) await lose(metadata.name);
    await lose("single");

    // As the cluster-autoscaler does with machines that do not come.
    const ref = { namespace, name: "fleet" };
    const lower = () => api.patch(machineDeploymentResource, ref, { spec: { replicas: 2 } }, { kind: "merge" });
    if (when === "while none runs") await lower();
    const second = await fleet.manage({ settings });
    await eventually(async () => expect(await record()).toBe("14"), LONG);
    if (when === "under a process") await lower();
    await eventually(async () => expect((await theSet())?.spec.replicas).toBe(2), LONG);
    await second.stop();
    await fleet.manage({ settings });
    const ids = () => cloud.vms().map(({ providerId }) => providerId);
    await eventually(async () => expect(ids()).not.toContain(single), LONG);
    expect(new Set(ids())).toEqual(new Set(machines.map((machine) => machine.spec.providerID)));
    expect((await theSet())?.status?.machineSetCondition).toContainEqual(
      expect.objectContaining({ type: "DeletionsHeld", message: expect.stringContaining("Lost Machines") }),
    );

    const decision = { metadata: { annotations: { [annotationKeys.expectedReplicas]: null } } };
    const name = (await theSet())?.metadata.name ?? "";
    await api.patch(machineSetResource, { namespace, name }, decision, { kind: "merge" });
    await eventually(async () => expect(ids().length).toBeLessThan(14), LONG);
    expect(ids()).toEqual(expect.arrayContaining((await fleet.machines()).map((machine) => machine.spec.providerID)));
  },
);
