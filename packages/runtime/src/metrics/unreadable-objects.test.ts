import { createControlCaches } from "@millwright/controllers";
import { systemClock, systemRandom } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import type { ApiObject, ResourceType } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { samplesIn } from "../testing/metric-lines.ts";
import { measureUnreadableObjects } from "./fleet-gauges.ts";

const namespace = "shoot";
const ref = { namespace, name: "bad" };
/** Fields of a wrong type, by kind. */
const broken = [
  [machineResource, { spec: { class: "c" } }],
  [machineSetResource, { spec: { replicas: "two", template: { spec: {} } } }],
  [machineDeploymentResource, { spec: { replicas: "two", template: { spec: {} } } }],
  [machineClassResource, { providerSpec: {}, provider: 7 }],
] as const;

it("counts the objects that cannot be read, by kind, until they are fixed or deleted", async () => {
  const api = createFakeApi();
  const seed = (type: ResourceType, name: string, content: object): void => {
    api.seed<ApiObject>(type, { metadata: { namespace, name }, ...content });
  };
  for (const [type, content] of broken) {
    seed(type, "bad", content);
    seed(type, "good", { spec: { template: { spec: {} } }, providerSpec: {} });
  }
  seed(machineResource, "worse", { spec: { providerID: [] } });
  const caches = createControlCaches({ api, namespace, clock: systemClock, random: systemRandom });
  const registry = new Registry();
  measureUnreadableObjects(registry, namespace, caches);
  const lines = async () =>
    samplesIn(await registry.metrics()).map((line) => line.replace("millwright_unreadable_objects", ""));
  const counts = (machine: number, set: number, deployment: number, machineClass: number) => [
    `{kind="Machine",namespace="shoot"} ${machine}`,
    `{kind="MachineSet",namespace="shoot"} ${set}`,
    `{kind="MachineDeployment",namespace="shoot"} ${deployment}`,
    `{kind="MachineClass",namespace="shoot"} ${machineClass}`,
  ];

  expect(await lines()).toEqual([]);
  const stop = new AbortController();
  for (const cache of [caches.machines, caches.sets, caches.deployments, caches.classes]) {
    void cache.run(stop.signal);
    await cache.synced(stop.signal);
  }
  expect(await lines()).toEqual(counts(2, 1, 1, 1));

  api.change(machineResource, ref, { spec: { class: { name: "c" } } });
  for (const type of [machineSetResource, machineDeploymentResource]) api.change(type, ref, { spec: { replicas: 2 } });
  api.change(machineClassResource, ref, { provider: "mock" });
  api.remove(machineResource, { namespace, name: "worse" });
  await expect.poll(lines).toEqual(counts(0, 0, 0, 0));
  stop.abort();
});
