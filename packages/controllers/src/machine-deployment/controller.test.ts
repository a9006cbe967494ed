import {
  annotationKeys,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { ApiError, controllerRefOf } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, aMachineSet, type Change, inPhase, named, ownedBy, refOf } from "../testing/builders.ts";
import {
  changeDeployment,
  conditionOf,
  deploymentOf,
  live,
  pool,
  setsOf,
  startDeployments,
  withDeployment,
} from "../testing/running-deployment.ts";

const bigClass = { spec: { template: { spec: { class: { name: "big" } } } } };

describe("MachineDeployment controller", () => {
  it("brings a new deployment up", async () => {
    const cluster = await withDeployment({ metadata: { finalizers: null } });
    await live(cluster);
    expect(cluster.machines()).toHaveLength(3);
    expect(setsOf(cluster)).toHaveLength(1);
    expect(deploymentOf(cluster)?.status).toMatchObject({
      replicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
    });
    expect(conditionOf(cluster, "Available")?.status).toBe("True");
    expect(conditionOf(cluster, "Progressing")?.reason).toBe("NewMachineSetAvailable");
    expect(deploymentOf(cluster)?.metadata.annotations?.[annotationKeys.revision]).toBe("1");
    expect(cluster.events).toContain(
      `ScalingMachineSet Scaled up machine set ${setsOf(cluster)[0]?.metadata.name} to 3`,
    );
  });

  it("writes nothing while nothing changes", async () => {
    const cluster = await withDeployment({ spec: { progressDeadlineSeconds: 60 } });
    await live(cluster);
    cluster.api.calls.length = 0;
    await cluster.settle(3_600_000);
    expect(cluster.api.writes()).toEqual([]);
  });

  it("rolls a new template out within its bounds, and back", async () => {
    const cluster = await withDeployment();
    await live(cluster);
    const [first] = setsOf(cluster);
    await changeDeployment(cluster, bigClass);
    await live(cluster);
    expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual(["big", "big", "big"]);
    expect(new Set(setsOf(cluster).map(({ spec }) => spec.replicas))).toEqual(new Set([0, 3]));

    await changeDeployment(cluster, { spec: { rollbackTo: { revision: 0 } } });
    await live(cluster);
    expect(deploymentOf(cluster)?.spec.rollbackTo).toBeUndefined();
    expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual(["small", "small", "small"]);
    expect(setsOf(cluster)).toHaveLength(2);
    const again = cluster.api.peek<MachineSet>(machineSetResource, refOf(first?.metadata.name ?? ""));
    expect(again?.metadata.annotations).toMatchObject({
      [annotationKeys.revision]: "3",
      [annotationKeys.revisionHistory]: "1",
    });
    expect(cluster.events).toContain('DeploymentRollback Rolled back deployment "pool" to revision 1');
  });

  it("hands configuration down to the machines without new ones", async () => {
    const cluster = await withDeployment();
    await live(cluster);
    const before = cluster.machines().map(({ metadata }) => metadata.uid);
    await changeDeployment(cluster, { spec: { template: { spec: { drainTimeout: "1h" } } } });
    expect(cluster.machines().map(({ spec }) => spec.drainTimeout)).toEqual(["1h", "1h", "1h"]);
    expect(cluster.machines().map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(setsOf(cluster)).toHaveLength(1);
  });

  it("recreates: no new machine before the last old one is gone, also when the new set exists already", async () => {
    const cluster = await withDeployment({ spec: { strategy: { type: "Recreate" } } });
    await live(cluster);
    for (const to of ["big", "small"]) {
      await changeDeployment(cluster, { spec: { template: { spec: { class: { name: to } } } } });
      expect(cluster.machines().filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([]);
      expect(cluster.machines()).toHaveLength(3);
      await live(cluster);
      expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual([to, to, to]);
    }
    expect(setsOf(cluster)).toHaveLength(2);
  });

  it("scales to zero and back", async () => {
    const cluster = await withDeployment();
    await live(cluster);
    for (const replicas of [0, 5, 2]) {
      await changeDeployment(cluster, { spec: { replicas } });
      await live(cluster);
      expect(cluster.machines()).toHaveLength(replicas);
      expect(conditionOf(cluster, "Progressing")?.reason).toBe("NewMachineSetAvailable");
    }
    expect(setsOf(cluster)).toHaveLength(1);
  });

  it("does not roll out while paused but scales, and counts the deadline from the end of the pause", async () => {
    const cluster = await withDeployment({ spec: { progressDeadlineSeconds: 600 } });
    await live(cluster);
    await changeDeployment(cluster, { spec: { ...bigClass.spec, paused: true, replicas: 4 } });
    await live(cluster);
    expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual(["small", "small", "small", "small"]);
    expect(setsOf(cluster)).toHaveLength(1);
    expect(conditionOf(cluster, "Progressing")).toMatchObject({ status: "Unknown", reason: "DeploymentPaused" });
    await cluster.settle(3_600_000);
    await changeDeployment(cluster, { spec: { paused: false } });
    expect(conditionOf(cluster, "Progressing")?.status).not.toBe("False");
    await live(cluster);
    expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual(["big", "big", "big", "big"]);
    expect(conditionOf(cluster, "Progressing")?.reason).toBe("NewMachineSetAvailable");
  });

  it("reports a rollout that makes no progress when its deadline passes", async () => {
    const cluster = await withDeployment({ spec: { progressDeadlineSeconds: 60 } });
    await cluster.settle(59_000);
    expect(conditionOf(cluster, "Progressing")?.status).toBe("True");
    await cluster.settle(1_000);
    expect(conditionOf(cluster, "Progressing")).toMatchObject({ status: "False", reason: "ProgressDeadlineExceeded" });
    cluster.api.calls.length = 0;
    await cluster.settle(3_600_000);
    expect(cluster.api.writes()).toEqual([]);
    await live(cluster);
    expect(conditionOf(cluster, "Progressing")?.reason).toBe("NewMachineSetAvailable");
  });

  it("adopts sets that it selects, and releases sets that it no longer selects", async () => {
    const cluster = await startDeployments((api) => {
      api.seed(machineDeploymentResource, aMachineDeployment());
      api.seed(machineSetResource, aMachineSet(named("orphan")));
      api.seed(
        machineSetResource,
        aMachineSet(named("stray"), ownedBy(aMachineDeployment()), {
          metadata: { labels: null },
          spec: { replicas: 0 },
        }),
      );
    });
    const owner = (name: string) =>
      controllerRefOf(cluster.api.peek(machineSetResource, refOf(name)) ?? { metadata: {} });
    expect(owner("orphan")).toMatchObject({ kind: "MachineDeployment", uid: "uid-pool" });
    expect(owner("stray")).toBeUndefined();
    // The orphan has the template that is wanted: it is the new set, whatever its name.
    expect(setsOf(cluster).map(({ metadata }) => metadata.name)).toEqual(["orphan", "stray"]);
  });

  it("takes another name when a stranger has the one it wants, after one collision", async () => {
    const first = await withDeployment();
    const taken = setsOf(first)[0]?.metadata.name ?? "";
    await first.stop();
    const cluster = await startDeployments((api) => {
      api.seed(machineDeploymentResource, aMachineDeployment());
      const other = api.seed(machineDeploymentResource, aMachineDeployment(named("other")));
      api.seed(machineSetResource, aMachineSet(named(taken), ownedBy(other)));
    });
    expect(deploymentOf(cluster)?.status?.collisionCount).toBe(1);
    expect(cluster.events.filter((event) => event.startsWith("ScalingMachineSet") && event.includes(taken))).toEqual(
      [],
    );
    await cluster.settle(10_000);
    await live(cluster);
    expect(deploymentOf(cluster)?.status?.collisionCount).toBe(1);
    const own = setsOf(cluster).find((set) => controllerRefOf(set)?.uid === "uid-pool");
    expect(own?.metadata.name).not.toBe(taken);
    expect(own?.spec.replicas).toBe(3);
  });

  it("takes another name when a set of its own with another template has the one it wants", async () => {
    const first = await withDeployment();
    const taken = setsOf(first)[0]?.metadata.name ?? "";
    await first.stop();
    const cluster = await startDeployments((api) => {
      const deployment = api.seed(machineDeploymentResource, aMachineDeployment());
      api.seed(machineSetResource, aMachineSet(named(taken), ownedBy(deployment), bigClass));
    });
    await cluster.settle(10_000);
    await live(cluster);
    expect(deploymentOf(cluster)?.status?.collisionCount).toBe(1);
    expect(cluster.machines().map(({ spec }) => spec.class?.name)).toEqual(["small", "small", "small"]);
  });

  it("uses the set that it made although the answer got lost", async () => {
    const cluster = await startDeployments((api) => {
      api.seed(machineDeploymentResource, aMachineDeployment());
      const error = new ApiError({ status: 504, reason: "Timeout", message: "late" });
      api.inject({ verb: "create", type: machineSetResource, phase: "after", error });
    });
    await cluster.settle(10_000);
    await live(cluster);
    expect(setsOf(cluster)).toHaveLength(1);
    expect(deploymentOf(cluster)?.status?.collisionCount).toBeUndefined();
    expect(conditionOf(cluster, "Progressing")?.reason).toBe("NewMachineSetAvailable");
  });

  it("shows why a set cannot be created, and that it was created after all", async () => {
    const cluster = await startDeployments((api) => {
      api.seed(machineDeploymentResource, aMachineDeployment());
      const error = new ApiError({ status: 403, reason: "Forbidden", message: "exceeded quota: sets" });
      api.inject({ verb: "create", type: machineSetResource, error, times: 4 });
    });
    const message = expect.stringMatching(/^Failed to create new machine set "pool-\w{5}": exceeded quota: sets$/);
    expect(conditionOf(cluster, "Progressing")).toMatchObject({
      status: "False",
      reason: "MachineSetCreateError",
      message,
    });
    expect(cluster.events.some((event) => event.startsWith("MachineSetCreateError "))).toBe(true);
    await cluster.settle(60_000);
    expect(conditionOf(cluster, "Progressing")?.status).toBe("True");
  });

  it("shows that machines cannot be created", async () => {
    const cluster = await startDeployments((api) => {
      api.seed(machineDeploymentResource, aMachineDeployment());
      const error = new ApiError({ status: 403, reason: "Forbidden", message: "exceeded quota" });
      api.inject({ verb: "create", type: machineResource, error, times: 3 });
    });
    expect(conditionOf(cluster, "ReplicaFailure")).toMatchObject({
      status: "True",
      reason: "FailedCreate",
      message: "exceeded quota",
    });
    await cluster.settle(60_000);
    expect(conditionOf(cluster, "ReplicaFailure")).toBeUndefined();
  });

  it("forgets old sets beyond its history", async () => {
    const cluster = await withDeployment({ spec: { revisionHistoryLimit: 1 } });
    await live(cluster);
    for (const to of ["big", "huge"]) {
      await changeDeployment(cluster, { spec: { template: { spec: { class: { name: to } } } } });
      await live(cluster);
    }
    await cluster.settle();
    expect(new Set(setsOf(cluster).map(({ spec }) => spec.template.spec.class?.name))).toEqual(
      new Set(["big", "huge"]),
    );
  });

  it("deletes its sets, and they their machines, before it goes", async () => {
    const cluster = await withDeployment();
    await live(cluster);
    await cluster.api.delete(machineDeploymentResource, pool);
    await cluster.settle();
    expect(setsOf(cluster)[0]?.metadata.deletionTimestamp).toBeDefined();
    expect(deploymentOf(cluster)?.status?.replicas).toBe(3);
    await live(cluster);
    expect([cluster.machines(), setsOf(cluster), deploymentOf(cluster)]).toEqual([[], [], undefined]);
  });

  it.each<[string, Change<MachineDeployment>, string]>([
    ["without a selector", { spec: { selector: null } }, "spec.selector"],
    ["with a selector that selects everything", { spec: { selector: { matchLabels: null } } }, "spec.selector"],
    ["with an unknown strategy", { spec: { strategy: { type: "Canary" } } }, "spec.strategy.type"],
    [
      "that is to be updated in place where there are no nodes",
      { spec: { strategy: { type: "InPlaceUpdate", inPlaceUpdate: { orchestrationType: "Auto" } } } },
      "requires a target cluster",
    ],
  ])("rejects a deployment %s once, and deletes it on request", async (_, broken, word) => {
    const cluster = await withDeployment(broken, { metadata: { generation: 5 }, status: { observedGeneration: 4 } });
    expect(conditionOf(cluster, "SpecValid")).toMatchObject({
      status: "False",
      message: expect.stringContaining(word),
    });
    expect(deploymentOf(cluster)?.status?.observedGeneration).toBe(4);
    expect(cluster.events).toHaveLength(1);
    expect(setsOf(cluster)).toEqual([]);
    cluster.api.calls.length = 0;
    await cluster.settle(3_600_000);
    expect(cluster.api.writes()).toEqual([]);
    await cluster.api.delete(machineDeploymentResource, pool);
    await cluster.settle();
    expect(deploymentOf(cluster)).toBeUndefined();
  });

  it("goes on counting and keeping its machines while a change of its selector is refused", async () => {
    const cluster = await withDeployment();
    await live(cluster);
    const machines = cluster.machines().length;
    await changeDeployment(cluster, { spec: { selector: { matchLabels: { name: "elsewhere" } } } });
    expect(conditionOf(cluster, "SpecValid")?.status).toBe("False");
    expect(deploymentOf(cluster)?.status).toMatchObject({ replicas: machines, readyReplicas: machines });
    expect(conditionOf(cluster, "Available")?.status).toBe("True");
    expect(cluster.machines()).toHaveLength(machines);
  });

  it("follows a Running machine that turns Failed while another turns Running", async () => {
    const cluster = await withDeployment({ spec: { replicas: 2 } });
    const [a, b] = cluster.machines().map(({ metadata }) => refOf(metadata.name));
    if (a === undefined || b === undefined) throw new Error("two machines were expected");
    cluster.api.change(machineResource, a, inPhase("Running"));
    await cluster.settle();
    cluster.api.change<Machine>(machineResource, a, { status: { currentStatus: { phase: "Unknown" } } });
    cluster.api.change<Machine>(machineResource, b, inPhase("Running"));
    await cluster.settle(1_000);
    expect(deploymentOf(cluster)?.status?.readyReplicas).toBe(1);
  });
});
