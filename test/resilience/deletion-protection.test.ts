import type { ResourceType } from "@millwright/base";
import {
  annotationKeys,
  machineDeploymentResource,
  type Machine,
  machineResource,
  machineSetResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { type DeleteOptions, eventResource, nodeResource, podResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const namespace = "default";
const LONG = 90_000;
const key = annotationKeys.deletionProtection;

describe("deletion protection of millwright run", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  const protect = async (type: ResourceType, name: string, value: "true" | null): Promise<void> => {
    const patch = { metadata: { annotations: { [key]: value } } };
    await fleet.api.patch(type, { namespace, name }, patch, { kind: "merge" });
  };
  const start = async (replicas: number): Promise<readonly string[]> => {
    fleet = await startControlledFleet();
    fleet.runAlone();
    await fleet.deploy(replicas);
    await fleet.untilRunning(replicas);
    return (await fleet.machines()).map(({ metadata }) => metadata.name).toSorted();
  };
  const untilNothingHappens = (): Promise<number> =>
    untilQuiet(
      () =>
        fleet.requests().filter(({ verb, resource }) => verb !== "watch" && verb !== "list" && resource !== "leases")
          .length,
    );
  const descriptionsOf = (machines: readonly Machine[]): readonly string[] =>
    machines.map(({ status }) => status?.lastOperation?.description ?? "");
  const reasonsOfEvents = async (): Promise<readonly (string | undefined)[]> =>
    (await fleet.api.list(eventResource, { namespace })).items.map((event) => (event as { reason?: string }).reason);
  const conditionOf = async (type: typeof machineSetResource | typeof machineDeploymentResource): Promise<string> => {
    const [object] = (await fleet.api.list(type, { namespace })).items;
    return JSON.stringify(object?.["status"]);
  };

  it("keeps a machine that a user deletes, with its Node and VM, until the annotation is removed", async () => {
    const [name = ""] = await start(1);
    await protect(machineResource, name, "true");
    await fleet.api.delete(machineResource, { namespace, name });
    await eventually(async () => {
      const machine = await fleet.api.get<Machine>(machineResource, { namespace, name });
      expect(phaseOf(machine)).toBe("Terminating");
      expect(descriptionsOf([machine])[0]).toContain(`remove annotation ${key} from Machine ${name}`);
    }, LONG);
    await untilNothingHappens();
    expect(fleet.callsOf("delete")).toBe(0);
    const nodes = (await fleet.api.list(nodeResource)).items;
    expect(nodes.filter(({ spec }) => (spec as { unschedulable?: boolean }).unschedulable === true)).toEqual([]);
    expect((await reasonsOfEvents()).filter((reason) => reason === "DeletionPaused")).toHaveLength(1);
    // The set has replaced it, and has one too many for the protected one alone.
    await eventually(async () => expect(fleet.cloud.vms()).toHaveLength(2), LONG);
    await protect(machineResource, name, null);
    await fleet.untilRunning(1);
  });

  it("lets a set delete the other machines, and reports when only protected ones are left", async () => {
    const [kept = "", ...others] = await start(3);
    await protect(machineResource, kept, "true");
    await fleet.scale(1);
    await fleet.untilRunning(1);
    expect((await fleet.machines()).map(({ metadata }) => metadata.name)).toEqual([kept]);
    await fleet.scale(0);
    for (const type of [machineSetResource, machineDeploymentResource] as const)
      await eventually(
        async () => expect(await conditionOf(type)).toContain(`Cannot delete protected machines: ${kept}`),
        LONG,
      );
    await untilNothingHappens();
    expect(fleet.callsOf("delete")).toBe(others.length);
    expect((await fleet.machines()).map((machine) => [machine.metadata.name, phaseOf(machine)])).toEqual([
      [kept, "Running"],
    ]);
    expect((await reasonsOfEvents()).filter((reason) => reason === "DeletionProtected")).toHaveLength(1);
    await protect(machineResource, kept, null);
    await fleet.untilGone();
    await eventually(async () =>
      expect(await conditionOf(machineDeploymentResource)).not.toContain("DeletionProtected"),
    );
  });

  it.each<{
    readonly propagation: NonNullable<DeleteOptions["propagation"]>;
    readonly phase: string;
    readonly description: RegExp;
  }>([
    { propagation: "Background", phase: "Running", description: /joined/ },
    {
      propagation: "Foreground",
      phase: "Terminating",
      description: /^Deletion paused: MachineDeployment fleet is protected/,
    },
  ])(
    "keeps all machines of a protected deployment that is deleted: $propagation",
    async ({ propagation, phase, description }) => {
      const before = await start(2);
      await protect(machineDeploymentResource, "fleet", "true");
      await fleet.api.delete(machineDeploymentResource, { namespace, name: "fleet" }, { propagation });
      await eventually(
        async () =>
          expect(await conditionOf(machineDeploymentResource)).toContain(
            "Deletion paused: MachineDeployment fleet is protected",
          ),
        LONG,
      );
      const expected = before.map(() => expect.stringMatching(description));
      await eventually(async () => expect(descriptionsOf(await fleet.machines())).toEqual(expected), LONG);
      await untilNothingHappens();
      const machines = await fleet.machines();
      expect(machines.map(({ metadata }) => metadata.name).toSorted()).toEqual(before);
      expect(machines.map(phaseOf)).toEqual(before.map(() => phase));
      expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([2, 0]);
      expect((await fleet.api.list(podResource)).items).toEqual([]);
      await protect(machineDeploymentResource, "fleet", null);
      await fleet.untilGone();
      await eventually(async () =>
        expect((await fleet.api.list(machineDeploymentResource, { namespace })).items).toEqual([]),
      );
    },
  );

  it("keeps a protected deployment that is deleted without its sets, and then lets it go without them", async () => {
    const before = await start(2);
    await protect(machineDeploymentResource, "fleet", "true");
    await fleet.api.delete(machineDeploymentResource, { namespace, name: "fleet" }, { propagation: "Orphan" });
    await eventually(
      async () => expect(await conditionOf(machineDeploymentResource)).toContain("Deletion paused"),
      LONG,
    );
    await untilNothingHappens();
    await protect(machineDeploymentResource, "fleet", null);
    await eventually(
      async () => expect((await fleet.api.list(machineDeploymentResource, { namespace })).items).toEqual([]),
      LONG,
    );
    await untilNothingHappens();
    expect((await fleet.machines()).map(({ metadata }) => metadata.name).toSorted()).toEqual(before);
    expect(fleet.callsOf("delete")).toBe(0);
  });

  it("scales and rolls out a protected deployment", async () => {
    const before = await start(2);
    await protect(machineDeploymentResource, "fleet", "true");
    const annotations = { rolled: "out" };
    const patch = { spec: { template: { metadata: { annotations } } } };
    await fleet.api.patch(machineDeploymentResource, { namespace, name: "fleet" }, patch, { kind: "merge" });
    await eventually(async () => {
      const names = (await fleet.machines()).map(({ metadata }) => metadata.name);
      expect(names.filter((name) => before.includes(name))).toEqual([]);
      expect(names).toHaveLength(2);
    }, LONG);
    await fleet.scale(0);
    await fleet.untilGone();
  });
});
