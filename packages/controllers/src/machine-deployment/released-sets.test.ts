import { annotationKeys, machineSetResource } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { refOf } from "../testing/builders.ts";
import {
  changeDeployment,
  conditionOf,
  deploymentOf,
  live,
  setsOf,
  withDeployment,
} from "../testing/running-deployment.ts";
import type { RunningControllers } from "../testing/running-controllers.ts";

/** Something, such as a webhook, changes the labels of the sets that the deployment has. */
async function relabel(cluster: RunningControllers, name: string | null = "other"): Promise<void> {
  for (const { metadata } of setsOf(cluster))
    cluster.api.change(machineSetResource, refOf(metadata.name), { metadata: { labels: { name } } });
  await cluster.settle(1_000);
}

it("does not create a set after the first that no longer matches its selector, until its labels are restored", async () => {
  const cluster = await withDeployment();
  await live(cluster);
  for (let round = 0; round < 10; round++) await relabel(cluster);
  expect([setsOf(cluster).length, cluster.machines().length]).toEqual([1, 3]);
  const [set] = setsOf(cluster);
  expect(cluster.events.filter((event) => event.startsWith("Released"))).toEqual([
    `Released Released MachineSet ${set?.metadata.name}: its labels no longer match the selector. Its machines and their VMs are kept`,
  ]);
  expect(conditionOf(cluster, "Progressing")).toMatchObject({
    status: "False",
    reason: "MachineSetCreateError",
    message: expect.stringMatching(/^Cannot create a MachineSet: labels of MachineSet pool-\w{5} no longer match/),
  });

  await relabel(cluster, "pool");
  expect(deploymentOf(cluster)?.status?.replicas).toBe(3);
  expect(conditionOf(cluster, "Progressing")).toMatchObject({ status: "True", reason: "NewMachineSetAvailable" });
});

it("creates the next set after an hour and no third one, if labels are changed again and again", async () => {
  const cluster = await withDeployment();
  for (let minute = 0; minute < 180; minute += 5) {
    await relabel(cluster);
    await cluster.settle(300_000);
  }
  expect([setsOf(cluster).length, cluster.machines().length]).toEqual([2, 6]);
});

it.each([
  ["deleted", (cluster: RunningControllers, name: string) => cluster.api.remove(machineSetResource, refOf(name))],
  [
    "no longer marked as released",
    (cluster: RunningControllers, name: string) =>
      void cluster.api.change(machineSetResource, refOf(name), {
        metadata: { annotations: { [annotationKeys.releasedFrom]: null } },
      }),
  ],
])("creates a set at once when the one that it released is %s", async (_, end) => {
  const cluster = await withDeployment();
  await live(cluster);
  await relabel(cluster);
  const [released] = setsOf(cluster);
  end(cluster, released?.metadata.name ?? "");
  await cluster.settle(1_000);
  await live(cluster);
  expect(setsOf(cluster).filter(({ metadata }) => metadata.labels?.["name"] === "pool")).toHaveLength(1);
  expect(deploymentOf(cluster)?.status?.availableReplicas).toBe(3);
});

it("scales the sets that it has while it may not create one", async () => {
  const cluster = await withDeployment();
  await live(cluster);
  await changeDeployment(cluster, { spec: { template: { spec: { class: { name: "big" } } } } });
  const added = setsOf(cluster).find(({ spec }) => spec.template.spec.class?.name === "big");
  cluster.api.change(machineSetResource, refOf(added?.metadata.name ?? ""), { metadata: { labels: { name: null } } });
  await cluster.settle(1_000);
  await changeDeployment(cluster, { spec: { replicas: 5 } });
  const size = (name: string) =>
    setsOf(cluster).find(({ spec }) => spec.template.spec.class?.name === name)?.spec.replicas;
  expect([setsOf(cluster).length, size("small"), size("big")]).toEqual([2, 5, 1]);
});
