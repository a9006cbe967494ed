import {
  annotationKeys,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  writeRefusedConditionType,
} from "@millwright/core/machine-api";
import { newControllerRef } from "@millwright/kube";
import { expect, it } from "vitest";
import { aMachine, aMachineDeployment, aMachineSet, annotated, named, ownedBy, refOf } from "../testing/builders.ts";
import type { RunningControllers } from "../testing/running-controllers.ts";
import { withVm } from "../testing/snapshots.ts";
import { setOf, setRef, startSets } from "../testing/running-set.ts";

const deployment = aMachineDeployment({ metadata: { generation: 2 }, spec: { replicas: 5 } });

/** A set of 2 that had 5 machines, which are there again, and its deployment. */
const restored = (status: NonNullable<MachineDeployment["status"]>) =>
  startSets((api) => {
    api.seed(machineDeploymentResource, { ...deployment, status });
    const set = aMachineSet({ spec: { replicas: 2 } }, annotated({ [annotationKeys.expectedReplicas]: "5" }), {
      metadata: { ownerReferences: [newControllerRef(machineDeploymentResource, deployment)] },
    });
    api.seed(machineSetResource, set);
    for (const name of ["a", "b", "c", "d", "e"])
      api.seed(machineResource, aMachine(withVm, named(name), ownedBy(set)));
  });

/** Machines that are kept, and those that are deleted. */
const counts = (cluster: RunningControllers): readonly [number, number] => {
  const deleted = cluster.machines().filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
  return [cluster.machines().length - deleted, deleted];
};

it("keeps restored machines until the controller of the deployment, which has grown, has given the set its size", async () => {
  const cluster = await restored({ observedGeneration: 1 });
  await cluster.settle(60_000);
  expect(counts(cluster)).toEqual([5, 0]);
  expect(setOf(cluster)?.metadata.annotations).toHaveProperty([annotationKeys.expectedReplicas], "5");

  cluster.api.change(machineSetResource, setRef, { spec: { replicas: 5 } });
  cluster.api.change(machineDeploymentResource, refOf(deployment.metadata.name), { status: { observedGeneration: 2 } });
  await cluster.settle(60_000);
  expect(counts(cluster)).toEqual([5, 0]);
  expect(setOf(cluster)?.metadata.annotations).not.toHaveProperty([annotationKeys.expectedReplicas]);
});

it("keeps them while the API server refuses the size of the set", async () => {
  const refused = {
    type: writeRefusedConditionType,
    status: "True",
    reason: "WriteRefused",
    message: "denied",
  } as const;
  const cluster = await restored({ observedGeneration: 2, conditions: [refused] });
  await cluster.settle(3_600_000);
  expect(counts(cluster)).toEqual([5, 0]);
});

it("deletes those beyond a size that the deployment wants", async () => {
  const cluster = await restored({ observedGeneration: 2 });
  await cluster.settle(1_000);
  expect(counts(cluster)).toEqual([2, 3]);
});
