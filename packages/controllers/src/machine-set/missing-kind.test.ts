import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  type ResourceType,
} from "@millwright/core";
import { notServedError } from "@millwright/kube/testing";
import { afterEach, expect, it } from "vitest";
import { createMachineDeploymentController } from "../machine-deployment/controller.ts";
import { aMachineDeployment, aMachineSet, named } from "../testing/builders.ts";
import { runControllers, type RunningControllers } from "../testing/running-controllers.ts";
import { createMachineSetController } from "./controller.ts";

let running: RunningControllers | undefined;
afterEach(async () => running?.stop());

// MCM begins as long as a single one of its kinds is there (machineset-machinedeployment.md, section 1 and F31).
it.each<[string, ResourceType]>([
  ["machines", machineResource],
  ["sets", machineSetResource],
  ["deployments", machineDeploymentResource],
  ["classes", machineClassResource],
])("changes nothing while nobody serves %s, and begins when somebody does (F31)", async (_, type) => {
  const missing = 8;
  const cluster = await runControllers(
    (context) => [createMachineDeploymentController(context, 2), createMachineSetController(context, 2)],
    (api) => {
      api.seed(machineDeploymentResource, aMachineDeployment());
      // One that no deployment selects.
      const metadata = { labels: { name: "own" } };
      const spec = { selector: { matchLabels: metadata.labels }, template: { metadata } };
      api.seed(machineSetResource, aMachineSet(named("own"), { metadata, spec }));
      for (const verb of ["list", "watch"] as const)
        api.inject({ verb, type, error: notServedError(), times: missing });
    },
  );
  running = cluster;
  expect(cluster.api.writes()).toEqual([]);
  await cluster.settle(1_000);
  expect(cluster.api.writes()).toEqual([]);
  await cluster.settle(30 * 60_000);
  expect(cluster.machines()).toHaveLength(6);
});
