import { machineResource, type MachineSet, machineSetResource } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineSet, type Change, inPhase, named, ownedBy, refOf } from "../testing/builders.ts";
import { runControllers, type RunningControllers } from "../testing/running-controllers.ts";
import { createMachineSetController } from "./controller.ts";

/** Sets with so many running machines each. */
const start = (machines: number, ...sets: readonly Change<MachineSet>[]): Promise<RunningControllers> =>
  runControllers(
    (context) => [createMachineSetController(context, 1)],
    (api) => {
      for (const set of sets.map((change) => aMachineSet(change))) {
        api.seed(machineSetResource, set);
        for (let index = 0; index < machines; index++)
          api.seed(machineResource, aMachine(named(`${set.metadata.name}-${index}`), inPhase("Running"), ownedBy(set)));
      }
    },
  );

describe("sets beside each other", () => {
  it("are frozen both in the same moment when both have too many machines", async () => {
    const { api } = await start(8, named("a"), named("b"));
    const frozen = api.all<MachineSet>(machineSetResource).map(({ metadata }) => metadata.labels?.["freeze"]);
    expect(frozen).toEqual(["True", "True"]);
  });

  it("delete all machines where none is wanted, and leave their phase to the machine controller", async () => {
    const cluster = await start(3, { spec: { replicas: 0 } });
    expect(cluster.machines().map(({ metadata, status }) => [metadata.deletionTimestamp, status])).toEqual(
      Array.from({ length: 3 }, () => [expect.any(String), inPhase("Running").status]),
    );
    expect(cluster.events.filter((event) => event.startsWith("SuccessfulDelete Deleted machine: set-"))).toHaveLength(
      3,
    );
    const deletions = () => cluster.api.calls.filter(({ verb }) => verb === "delete").length;
    await cluster.settle(3_600_000);
    expect(deletions()).toBe(3);
    expect(cluster.api.peek<MachineSet>(machineSetResource, refOf("set"))?.status?.replicas).toBe(3);
  });
});
