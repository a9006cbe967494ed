import type { CrdGuard } from "@millwright/controllers";
import { createControlCaches } from "@millwright/controllers";
import { machineResource, machineSetResource, systemClock, systemRandom } from "@millwright/core";
import { createFakeApi } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureHeldObjects } from "./held-objects.ts";

it("counts what is held at the moment, by kind", async () => {
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
  let held: readonly string[] = [];
  const definitions: Pick<CrdGuard, "holdOf"> = {
    holdOf: (_, { metadata: { name = "" } }, hasBegun) =>
      held.includes(name) && !hasBegun
        ? { verdict: "held", definition: { name: "d", state: "gone" } }
        : { verdict: name === "c" ? "ask" : "goes" },
  };
  const registry = new Registry();
  measureHeldObjects(registry, definitions, caches);
  expect(await registry.metrics()).toContain('millwright_paused_deletions{kind="Machine"} 0');
  held = ["a", "b", "begun"];
  const metrics = await registry.metrics();
  expect(metrics).toContain('millwright_paused_deletions{kind="Machine"} 2');
  expect(metrics).toContain('millwright_paused_deletions{kind="MachineSet"} 0');
  expect(metrics).toContain('millwright_paused_deletions{kind="MachineDeployment"} 0');
  stop.abort();
});
