import {
  annotationKeys,
  type MachineDeployment,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { annotated, type Change, inPhase, refOf } from "../testing/builders.ts";
import type { RunningControllers } from "../testing/running-controllers.ts";
import { changeDeployment, live, setsOf, withDeployment } from "../testing/running-deployment.ts";

const surge = (replicas: number, maxSurge: number): Change<MachineDeployment> => ({
  spec: { replicas, strategy: { rollingUpdate: { maxSurge, maxUnavailable: 1 - maxSurge } } },
});

/** A deployment whose only set a user deletes. Its machines are terminating until {@link live} ends that. */
async function withoutItsSet(...changes: readonly Change<MachineDeployment>[]): Promise<RunningControllers> {
  const cluster = await withDeployment(...changes);
  await live(cluster);
  await cluster.api.delete(machineSetResource, refOf(setsOf(cluster)[0]?.metadata.name ?? ""));
  await cluster.settle(1_000);
  return cluster;
}

/** Replicas of the terminating set and of the others. */
const sizesOf = (cluster: RunningControllers): readonly unknown[] => {
  const sets = setsOf(cluster);
  const ofThose = (isTerminating: boolean) =>
    sets
      .filter(({ metadata }) => (metadata.deletionTimestamp !== undefined) === isTerminating)
      .map(({ spec }) => spec.replicas);
  return [ofThose(true), ofThose(false)];
};

it.each([
  ["with surge", 1, [1, 6]],
  ["without surge", 0, [0, 5]],
])("scales the next set and not a terminating one, %s", async (_, maxSurge, [first, second]) => {
  const cluster = await withoutItsSet(surge(10, maxSurge));
  expect(sizesOf(cluster)).toEqual([[10], [first]]);
  await changeDeployment(cluster, surge(15, maxSurge));
  await cluster.settle(10_000);
  expect(sizesOf(cluster)).toEqual([[10], [second]]);
  await live(cluster);
  await cluster.settle(10_000);
  expect(sizesOf(cluster)).toEqual([[], [15]]);
});

it("replaces the machines of a terminating set as they are deleted, and never has more than the surge allows", async () => {
  const cluster = await withoutItsSet(surge(4, 1));
  for (let gone = 1; gone <= 4; gone++) {
    const machine = cluster.machines().find(({ metadata }) => metadata.deletionTimestamp !== undefined);
    cluster.api.remove(machineResource, refOf(machine?.metadata.name ?? ""));
    await cluster.settle(1_000);
    expect(cluster.machines().length).toBeLessThanOrEqual(5);
    expect(sizesOf(cluster)[1]).toEqual([Math.min(4, 1 + gone)]);
  }
});

it.each([
  // One of the three old machines was terminating before: none of the surge is left.
  [3, 1, 3],
  [1, 1, 1],
])("of %d replicas grows while paused from %d to %d beside the terminating set", async (replicas, first, second) => {
  const cluster = await withDeployment(surge(replicas, 1));
  await live(cluster);
  await changeDeployment(cluster, { spec: { template: { spec: { class: { name: "big" } } } } });
  if (replicas > 1)
    for (const { metadata } of cluster.machines())
      cluster.api.change(machineResource, refOf(metadata.name), inPhase("Running"));
  await changeDeployment(cluster, { spec: { paused: true } });
  const old = setsOf(cluster).find(({ spec }) => spec.template.spec.class?.name === "small");
  await cluster.api.delete(machineSetResource, refOf(old?.metadata.name ?? ""));
  await cluster.settle(10_000);
  expect(sizesOf(cluster)).toEqual([[old?.spec.replicas], [first]]);
  await live(cluster);
  expect(sizesOf(cluster)).toEqual([[], [second]]);
});

it("does not scale a terminating set down while machines are awaited", async () => {
  const cluster = await withoutItsSet(surge(3, 1));
  const old = setsOf(cluster).find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const awaited = annotated({ [annotationKeys.expectedReplicas]: "3" });
  cluster.api.change(machineSetResource, refOf(old?.metadata.name ?? ""), awaited);
  await changeDeployment(cluster, { spec: { replicas: 1 } });
  await cluster.settle(10_000);
  expect(sizesOf(cluster)).toEqual([[3], [1]]);
  expect(cluster.machines().filter((machine) => machine.metadata.deletionTimestamp !== undefined)).toHaveLength(3);
});

it("grows within the surge while paused, beside a terminating set", async () => {
  const twice: Change<MachineDeployment> = {
    spec: { replicas: 3, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } },
  };
  const cluster = await withDeployment(twice);
  await live(cluster);
  await changeDeployment(cluster, { spec: { template: { spec: { class: { name: "big" } } } } });
  await changeDeployment(cluster, { spec: { paused: true } });
  const old = setsOf(cluster).find(({ spec }) => spec.template.spec.class?.name === "small");
  await cluster.api.delete(machineSetResource, refOf(old?.metadata.name ?? ""));
  await changeDeployment(cluster, { spec: { replicas: 5 } });
  await cluster.settle(10_000);
  // Of 5 and 2, three still go.
  expect(sizesOf(cluster)).toEqual([[3], [4]]);
});
