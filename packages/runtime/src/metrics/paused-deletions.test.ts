import type { CrdGuard } from "@millwright/controllers";
import { createControlCaches } from "@millwright/controllers";
import { systemClock, systemRandom } from "@millwright/base";
import { machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createFakeApi } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measurePausedDeletions } from "./fleet-gauges.ts";

it("counts the deletions that are paused, by kind", async () => {
  const namespace = "shoot";
  const api = createFakeApi();
  for (const name of ["a", "b", "c"]) api.seed(machineResource, { metadata: { name, namespace }, spec: {} });
  const lastOperation = { type: "Delete", description: "Drain successful. Initiate VM deletion" };
  const status = { currentStatus: { phase: "Terminating" }, lastOperation };
  api.seed(machineResource, { metadata: { name: "begun", namespace }, spec: {}, status });
  api.seed(machineSetResource, { metadata: { name: "s", namespace }, spec: { template: { spec: {} } } });
  const caches = createControlCaches({ api, namespace, clock: systemClock, random: systemRandom });
  const stop = new AbortController();
  for (const cache of [caches.machines, caches.sets]) {
    void cache.run(stop.signal);
    await cache.synced(stop.signal);
  }
  let paused: readonly string[] = [];
  const crdGuard: Pick<CrdGuard, "deletionVerdictOf"> = {
    deletionVerdictOf: (_, { metadata: { name = "" } }, hasStarted) =>
      paused.includes(name) && !hasStarted
        ? { verdict: "paused", crd: { name: "d", state: "deleted" } }
        : { verdict: name === "c" ? "unknown" : "proceed" },
  };
  const registry = new Registry();
  measurePausedDeletions(registry, namespace, crdGuard, caches);
  expect(await registry.metrics()).toContain('millwright_paused_deletions{namespace="shoot",kind="Machine"} 0');
  paused = ["a", "b", "begun"];
  const metrics = await registry.metrics();
  expect(metrics).toContain('millwright_paused_deletions{namespace="shoot",kind="Machine"} 2');
  expect(metrics).toContain('millwright_paused_deletions{namespace="shoot",kind="MachineSet"} 0');
  expect(metrics).toContain('millwright_paused_deletions{namespace="shoot",kind="MachineDeployment"} 0');
  stop.abort();
});
