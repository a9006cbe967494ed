import type { ResourceType } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { notServedError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { aMachineDeployment, aMachineSet, named } from "../testing/builders.ts";
import { startDeployments } from "../testing/running-deployment.ts";

// MCM begins as long as a single one of its kinds is there (MCM, `cmd/machine-controller-manager/app/controllermanager.go`).
it.each<[string, ResourceType]>([
  ["machines", machineResource],
  ["sets", machineSetResource],
  ["deployments", machineDeploymentResource],
  ["classes", machineClassResource],
])("changes nothing while the API server does not serve %s, and starts when it does", async (_, type) => {
  const missing = 8;
  const cluster = await startDeployments((api) => {
    api.seed(machineDeploymentResource, aMachineDeployment());
    // One that no deployment selects.
    const metadata = { labels: { name: "own" } };
    const spec = { selector: { matchLabels: metadata.labels }, template: { metadata } };
    api.seed(machineSetResource, aMachineSet(named("own"), { metadata, spec }));
    for (const verb of ["list", "watch"] as const) api.inject({ verb, type, error: notServedError(), times: missing });
  });
  expect(cluster.api.writes()).toEqual([]);
  await cluster.settle(1_000);
  expect(cluster.api.writes()).toEqual([]);
  await cluster.settle(30 * 60_000);
  expect(cluster.machines()).toHaveLength(6);
});
