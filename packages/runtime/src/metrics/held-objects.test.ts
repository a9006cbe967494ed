import { createControlCaches } from "@millwright/controllers";
import { systemClock, systemRandom } from "@millwright/base";
import { type Machine, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createFakeApi } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureHeldObjects } from "./fleet-gauges.ts";

it("counts what is held, by guard and kind, at each scrape", async () => {
  const namespace = "shoot";
  const api = createFakeApi();
  for (const name of ["a", "b"]) api.seed(machineResource, { metadata: { name, namespace }, spec: {} });
  const status = { machineSetCondition: [{ type: "Frozen", status: "True" }] };
  api.seed(machineSetResource, { metadata: { name: "s", namespace }, spec: { template: { spec: {} } }, status });
  const caches = createControlCaches({ api, namespace, clock: systemClock, random: systemRandom });
  const stop = new AbortController();
  for (const cache of [caches.machines, caches.sets]) {
    void cache.run(stop.signal);
    await cache.synced(stop.signal);
  }
  let held: readonly string[] = [];
  const guard = {
    name: "budget",
    of: ({ metadata: { name } }: Machine) =>
      held.includes(name) ? ({ by: "budget", holds: "deletion", message: "held", remedy: "" } as const) : "proceed",
  } as const;
  const registry = new Registry();
  measureHeldObjects(registry, namespace, [guard], caches);
  const series = (by: string, kind: string) => `millwright_held_objects{namespace="shoot",by="${by}",kind="${kind}"}`;
  expect(await registry.metrics()).toContain(`${series("budget", "Machine")} 0`);
  held = ["a"];
  const metrics = await registry.metrics();
  expect(metrics).toContain(`${series("budget", "Machine")} 1`);
  expect(metrics).toContain(`${series("freeze", "MachineSet")} 1`);
  expect(metrics).toContain(`${series("freeze", "MachineDeployment")} 0`);
  stop.abort();
});
