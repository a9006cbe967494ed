import type { Machine, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import { createMergePatch, findCondition } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  beingDeleted,
  type Change,
  inPhase,
  named,
} from "../testing/builders.ts";
import { type SetView } from "./state/set-size.ts";
import type { DeploymentFacts } from "./mcm-conditions.ts";
import { machineDeploymentStatus } from "./status.ts";

const now = new Date("2026-01-02T00:00:00Z");
const running = inPhase("Running");
const preserved = { status: { currentStatus: { phase: "Failed", preserveExpiryTime: "2026-02-01T00:00:00Z" } } };
/** A set with `spec.replicas` of `replicas` and these machines. */
const view = (
  name: string,
  replicas: number,
  machines: readonly Change<Machine>[],
  ...changes: readonly Change<MachineSet>[]
): SetView => ({
  set: aMachineSet(named(name), { spec: { replicas } }, ...changes),
  machines: machines.map((change, index) => aMachine(named(`${name}-${index}`), change)),
});
const factsOf = (change: Partial<DeploymentFacts> = {}): DeploymentFacts => ({
  deployment: aMachineDeployment(),
  newSet: undefined,
  oldSets: [],
  createdSet: undefined,
  maxUnavailable: 0,
  problems: [],
  ...change,
});
const statusOf = (change: Partial<DeploymentFacts>) => machineDeploymentStatus(factsOf(change), now);
const conditionOf = (change: Partial<DeploymentFacts>, type: string) =>
  findCondition(statusOf(change).conditions, type);

describe("machineDeploymentStatus", () => {
  it("sums over all machines, terminating ones among the replicas, and those whose deletion has not begun among the ready", () => {
    const status = statusOf({
      newSet: view("new", 2, [running, inPhase("Pending")]),
      oldSets: [view("old", 2, [running, inPhase("Available"), { ...running, ...beingDeleted() }])],
    });
    expect(status).toMatchObject({
      replicas: 5,
      updatedReplicas: 2,
      readyReplicas: 3,
      availableReplicas: 4,
      unavailableReplicas: 0,
      preservedFailedReplicas: 0,
      observedGeneration: 1,
    });
  });

  it("counts no negative unavailability", () => {
    expect(statusOf({ oldSets: [view("old", 0, [running])] }).unavailableReplicas).toBe(0);
    expect(statusOf({ oldSets: [view("old", 0, [running], { spec: { replicas: null } })] }).unavailableReplicas).toBe(
      0,
    );
  });

  it.each<[string, Change<MachineDeployment>, number, readonly Change<Machine>[], "True" | "False"]>([
    ["with all machines", {}, 0, [running, running, running], "True"],
    ["without one that must be there", {}, 0, [running, running], "False"],
    ["without one that may be missing", {}, 1, [running, running], "True"],
    ["without one that is preserved for inspection", {}, 0, [running, running, preserved], "True"],
    ["without any that are wanted", { spec: { replicas: null } }, 0, [], "True"],
  ])("is available %s: %#", (_, change, maxUnavailable, machines, expected) => {
    const facts = { deployment: aMachineDeployment(change), maxUnavailable, newSet: view("new", 3, machines) };
    expect(conditionOf(facts, "Available")?.status).toBe(expected);
  });

  it("collects failed machines of all sets, and has no list when there are none", () => {
    const failed = (name: string) => ({ status: { failedMachines: [{ name }] } });
    const facts = { newSet: view("new", 1, [], failed("b")), oldSets: [view("old", 1, [], failed("a"))] };
    expect(statusOf(facts).failedMachines).toEqual([{ name: "a" }, { name: "b" }]);
    const before = { deployment: aMachineDeployment({ status: { failedMachines: [{ name: "x" }] } }) };
    expect(statusOf(before)).not.toHaveProperty("failedMachines");
  });

  it("copies a failure of the new set, else of the oldest set that has one", () => {
    const failing = (message?: string) => ({
      status: {
        machineSetCondition: [
          {
            type: "ReplicaFailure",
            status: "True",
            ...(message === undefined ? {} : { reason: "FailedCreate", message }),
          },
        ],
      },
    });
    const oldSets = [view("a", 1, []), view("b", 1, [], failing("old")), view("c", 1, [], failing("older"))];
    expect(conditionOf({ newSet: view("new", 1, [], failing("new")), oldSets }, "ReplicaFailure")?.message).toBe("new");
    expect(conditionOf({ newSet: view("new", 1, []), oldSets }, "ReplicaFailure")).toMatchObject({
      reason: "FailedCreate",
      message: "old",
    });
    expect(conditionOf({ oldSets: [view("a", 1, [], failing())] }, "ReplicaFailure")).toMatchObject({
      reason: "",
      message: "",
    });
  });

  it("removes the failure when no set has one", () => {
    const condition = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "quota" };
    const resolved = { status: { machineSetCondition: [{ ...condition, status: "False" }] } };
    const deployment = aMachineDeployment({ status: { conditions: [condition] } });
    expect(conditionOf({ deployment, newSet: view("new", 1, [], resolved) }, "ReplicaFailure")).toBeUndefined();
  });

  it("reports why the spec is invalid, and keeps observedGeneration and conditions that depend on the spec", () => {
    const deployment = aMachineDeployment({ metadata: { generation: 5 }, status: { observedGeneration: 4 } });
    const problems = [{ path: "spec.selector", message: "is required", kind: "required" } as const];
    const facts = { deployment, problems, maxUnavailable: undefined };
    expect(statusOf(facts).observedGeneration).toBe(4);
    expect(statusOf(facts).conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual(["SpecValid False"]);
  });

  it("does not speak of progress while it is deleted", () => {
    const deployment = aMachineDeployment(beingDeleted());
    expect(conditionOf({ deployment, newSet: view("new", 1, [running]) }, "Progressing")).toBeUndefined();
  });

  it("speaks of the set that this pass creates", () => {
    expect(conditionOf({ createdSet: "fresh" }, "Progressing")).toMatchObject({
      reason: "NewMachineSetCreated",
      message: 'Created new machine set "fresh"',
    });
  });

  it("keeps conditions and fields that it does not own, and is equal when nothing changed", () => {
    const foreign = { type: "Watched", status: "True", reason: "ByHand", message: "" };
    const newSet = view("new", 1, [running]);
    const status = statusOf({
      newSet,
      deployment: aMachineDeployment({ status: { collisionCount: 2, conditions: [foreign] } }),
    });
    expect(status.collisionCount).toBe(2);
    expect(status.conditions?.[0]).toEqual(foreign);
    const again = machineDeploymentStatus(
      factsOf({ newSet, deployment: aMachineDeployment({ status }) }),
      new Date("2026-01-03T00:00:00Z"),
    );
    expect(createMergePatch({ ...status }, { ...again })).toBeUndefined();
  });
});
