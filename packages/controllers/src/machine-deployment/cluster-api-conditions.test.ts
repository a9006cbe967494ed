import {
  annotationKeys,
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { type Condition, equalJson, findCondition } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineClass,
  aMachineDeployment,
  aMachineSet,
  beingDeleted,
  type Change,
  inPhase,
  named,
  ownedBy,
  refOf,
} from "../testing/builders.ts";
import { someConditionInputs } from "../testing/judged-machines.ts";
import type { RunningControllers } from "../testing/running-controllers.ts";
import { lastly } from "../testing/snapshots.ts";
import { conditionOf, pool, withDeployment } from "../testing/running-deployment.ts";
import { deploymentConditions, withDeploymentConditions } from "./cluster-api-conditions.ts";
import { decideMachineDeployment } from "./decide.ts";
import type { SetView } from "./state/set-size.ts";
import { deploymentSnapshot } from "../testing/deployment-snapshot.ts";
import type { MachineDeploymentSnapshot } from "./state/snapshot.ts";

const now = new Date("2026-01-01T00:10:00Z");
const big = { spec: { template: { spec: { class: { name: "big" } } } } };
const deployment = aMachineDeployment(big, { metadata: { generation: 2 } });
const running: Change<Machine> = { spec: { providerID: "vm" }, ...inPhase("Available") };

const viewOf = (name: string, changes: readonly Change<Machine>[], template: object = {}): SetView => {
  const set = aMachineSet(named(name), ownedBy(deployment), template, {
    spec: { replicas: changes.length },
    status: { observedGeneration: 1 },
  });
  const machines = changes.map((change, index) => aMachine(named(`${name}-${index}`), ownedBy(set), change));
  return { set, machines };
};
const textOf = ({ status, reason, message }: Condition): string => `${status} ${reason} ${message ?? ""}`.trim();
const textsOf = (sets: readonly SetView[], change: Partial<Parameters<typeof deploymentConditions>[0]> = {}) => {
  const { states } = deploymentConditions(
    { deployment, sets, inputs: someConditionInputs(), legacy: [], ...change },
    now,
  );
  return Object.fromEntries(states.map((state) => [state.type, textOf(state)]));
};

describe("conditions of a rollout", () => {
  const required = "* MachineClass small, big required";
  const rolling = `True RollingOut Rolling out 3 not up-to-date replicas\n${required}`;
  const surging = "True ScalingDown Scaling down from 4 to 3 replicas";
  const old = viewOf("old", [running, running, running]);
  const going = [beingDeleted(), lastly("Delete", "Processing", "Initiate VM deletion")];

  it.each<[string, readonly SetView[], Readonly<Record<string, unknown>>]>([
    [
      "before",
      [viewOf("new", [running, running, running], big)],
      {
        RollingOut: "False NotRollingOut",
        MachinesUpToDate: "True UpToDate",
        ScalingUp: "False NotScalingUp",
        ScalingDown: "False NotScalingDown",
        MachinesReady: "True Ready",
      },
    ],
    [
      "as soon as the template changes, before a set has it",
      [old],
      {
        RollingOut: rolling,
        MachinesUpToDate: `False NotUpToDate * Machines old-0, old-1, old-2:\n  ${required}`,
        ScalingUp: "False NotScalingUp",
        ScalingDown: "False NotScalingDown",
        MachinesReady: "True Ready",
      },
    ],
    [
      "while the first new machine is made",
      [old, viewOf("new", [{}], big)],
      {
        RollingOut: rolling,
        ScalingUp: "False NotScalingUp",
        ScalingDown: surging,
        MachinesReady: "False NotReady * Machine new-0:\n  * InfrastructureReady: Waiting for the VM to be created",
      },
    ],
    [
      "while an old one goes",
      [
        {
          set: old.set,
          machines: [...old.machines.slice(0, 2), aMachine(named("old-2"), running, ...going)],
        },
        viewOf("new", [running], big),
      ],
      {
        RollingOut: rolling,
        ScalingDown: surging,
        MachinesReady:
          "False NotReady * Machine old-2:\n  * Deleting: Machine deletion in progress, stage: WaitingForInfrastructureDeletion",
      },
    ],
    [
      "when the last old one is gone",
      [viewOf("old", []), viewOf("new", [running, running, running], big)],
      { RollingOut: "False NotRollingOut", MachinesUpToDate: "True UpToDate", ScalingDown: "False NotScalingDown" },
    ],
  ])("%s", (_, sets, expected) => {
    expect(textsOf(sets)).toMatchObject(expected);
  });

  it("gives the reasons of two generations of old sets, the class first", () => {
    const labels = { metadata: { labels: { other: "label" } }, spec: { class: { name: "big" } } };
    const sets = [old, viewOf("older", [running], { spec: { template: labels } })];
    expect(textsOf(sets)["RollingOut"]).toBe(
      `True RollingOut Rolling out 4 not up-to-date replicas\n${required}\n* Template labels are not up-to-date`,
    );
  });

  it("reports what else blocks it", () => {
    const paused = aMachineDeployment(deployment, { spec: { paused: true } });
    const frozen = [{ type: "Frozen", status: "True" }];
    expect(
      textsOf([old], { deployment: paused, legacy: frozen, holds: ["The next window opens on Monday"] }),
    ).toMatchObject({
      RollingOut: `${rolling}\n* The next window opens on Monday\n* Rollout is paused\n* Rollout is blocked because MachineDeployment is frozen`,
      Paused: "True Paused MachineDeployment spec.paused is set to true",
      ScalingUp: "False NotScalingUp Scaling up would be blocked because MachineDeployment is frozen",
    });
  });

  it("is not scaling up while it is paused without a set, and is with one, which a pause lets grow", () => {
    const paused = aMachineDeployment(deployment, { spec: { paused: true, replicas: 3 } });
    expect(textsOf([], { deployment: paused })["ScalingUp"]).toBe(
      "False Paused Scaling up from 0 to 3 replicas starts when MachineDeployment is resumed",
    );
    expect(textsOf([viewOf("new", [running], big)], { deployment: paused })["ScalingUp"]).toMatch(/^True ScalingUp/);
  });

  it("reports Unknown for a spec that cannot be read, and everything else", () => {
    expect(textsOf([old], { inputs: someConditionInputs({ isSpecReadable: false }) })).toMatchObject({
      RollingOut: "Unknown InspectionFailed The spec cannot be read",
      ScalingUp: "Unknown InspectionFailed The spec cannot be read",
      MachinesReady: "True Ready",
      Deleting: "False NotDeleting",
    });
  });
});

describe("the conditions of a pass", () => {
  const snapshotOf = (stored: readonly Condition[] = []): MachineDeploymentSnapshot => {
    const { set, machines } = viewOf("new", [running, running, running], big);
    return deploymentSnapshot({
      deployment: { ...deployment, status: { conditions: stored } },
      claim: { owned: [set], adopt: [], release: [] },
      machines: new Map([[set.metadata.uid ?? "", machines]]),
      problems: [],
    });
  };
  const pass = (stored: readonly Condition[], isOn: boolean, at = now): readonly Condition[] => {
    const snapshot = snapshotOf(stored);
    const inputs = isOn ? someConditionInputs() : undefined;
    const decision = decideMachineDeployment(snapshot, at);
    return withDeploymentConditions(decision, snapshot, inputs, at).status?.conditions ?? [];
  };
  const legacyOf = (list: readonly Condition[]) =>
    list.filter(({ type }) => ["Available", "Progressing", "ReplicaFailure", "Frozen"].includes(type));
  const foreign = { type: "Zoned", status: "True", reason: "Other", message: "not ours" };

  it("are the same list when nothing changed, whenever that is looked at", () => {
    const first = pass([foreign], true);
    expect(pass(first, true, new Date("2026-01-03T00:00:00Z"))).toEqual(first);
    expect(first.map(({ type }) => type).at(-4)).toBe("Zoned");
  });

  it("leave MCM's byte by byte as they are without the others", () => {
    const withOurs = legacyOf(pass([], true));
    expect(withOurs.length).toBeGreaterThan(1);
    expect(equalJson(withOurs, legacyOf(pass([], false)))).toBe(true);
    expect(findCondition(withOurs, "Available")?.reason).toBe("MinimumReplicasAvailable");
  });

  it("go when they are not wanted any more, and what others wrote stays", () => {
    expect(pass(pass([foreign], true), false)).toEqual(expect.arrayContaining([foreign]));
    expect(
      pass(pass([foreign], true), false)
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(["Available", "Progressing", "Zoned"]);
  });

  it("are left alone where a pass writes no status", () => {
    const snapshot = { ...snapshotOf(), deployment: aMachineDeployment({ metadata: { finalizers: null } }) };
    const decision = decideMachineDeployment(snapshot, now);
    expect(withDeploymentConditions(decision, snapshot, someConditionInputs(), now)).toBe(decision);
  });
});

describe("the controllers", () => {
  const textsOf = (cluster: RunningControllers, type: string): string =>
    textOf(conditionOf(cluster, type) ?? { type, status: "absent" });

  it("look again when a class comes and when it goes", async () => {
    const cluster = await withDeployment();
    cluster.api.remove(machineClassResource, refOf("small"));
    await cluster.settle(1000);
    const missing = "False NotScalingUp Scaling up would be blocked because MachineClass small does not exist";
    expect(textsOf(cluster, "ScalingUp")).toBe(missing);
    cluster.api.seed(machineClassResource, aMachineClass());
    await cluster.settle(1000);
    expect(textsOf(cluster, "ScalingUp")).toBe("False NotScalingUp");
    cluster.api.remove(machineClassResource, refOf("small"));
    await cluster.settle(1000);
    expect(textsOf(cluster, "ScalingUp")).toBe(missing);
  });

  it("report that a deletion is slow when nothing else changes, and write nothing before that", async () => {
    const cluster = await withDeployment();
    await cluster.settle(20_000);
    const [machine] = cluster.machines();
    expect(machine).toBeDefined();
    await cluster.api.delete(machineResource, refOf(machine?.metadata.name ?? ""));
    await cluster.settle(10_000);
    cluster.api.calls.length = 0;
    await cluster.settle(14 * 60_000);
    expect(cluster.api.writes()).toEqual([]);
    expect(textsOf(cluster, "ScalingDown")).toBe("True ScalingDown Scaling down from 4 to 3 replicas");
    await cluster.settle(60_000);
    expect(textsOf(cluster, "ScalingDown")).toBe(
      `True ScalingDown Scaling down from 4 to 3 replicas\n* Machine ${machine?.metadata.name} is in deletion since more than 15m`,
    );
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    [
      "a canary step",
      { [annotationKeys.canarySteps]: "30%/1h" },
      "* Rollout waits at canary step 1 of 1 until 1 new machine is available",
    ],
    ["a deletion", { [annotationKeys.onDelete]: "true" }, "* Old machines are replaced only when they are deleted"],
    [
      "a maintenance window, with when it opens",
      { [annotationKeys.maintenanceWindows]: "0 22 1 12 * 4h UTC" },
      "* Rollout waits for the maintenance window that opens at ",
    ],
  ])("report that a rollout is in progress and waits for %s", async (_, annotations, hold) => {
    const cluster = await withDeployment();
    await cluster.settle(2_000);
    for (const { metadata } of cluster.machines())
      cluster.api.change(machineResource, refOf(metadata.name), inPhase("Available"));
    await cluster.settle(2_000);
    expect(textsOf(cluster, "RollingOut")).toBe("False NotRollingOut");
    const template = { spec: { class: { name: "big" } } };
    const change = { metadata: { annotations }, spec: { template } };
    await cluster.api.patch(machineDeploymentResource, pool, change, { kind: "merge" });
    await cluster.settle(10_000);
    const waiting = textsOf(cluster, "RollingOut");
    expect(waiting).toMatch(/^True RollingOut Rolling out 3 not up-to-date replicas/);
    expect(waiting).toContain(hold);
    await cluster.settle(600_000);
    expect(textsOf(cluster, "RollingOut")).toBe(waiting);
  });
});
