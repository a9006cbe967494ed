import { createControlCaches } from "@millwright/controllers";
import { systemClock, systemRandom } from "@millwright/base";
import { annotationKeys, machineClassResource } from "@millwright/core/machine-api";
import { createFakeApi } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureOrphanVms } from "./fleet-gauges.ts";

it("counts the VMs in quarantine, by class", async () => {
  const namespace = "shoot";
  const api = createFakeApi();
  const entry = { machine: "m", since: "2026-01-01T00:00:00Z" };
  const annotations = { [annotationKeys.orphanVms]: JSON.stringify({ machines: 3, vms: { a: entry, b: entry } }) };
  for (const [name, metadata] of [
    ["small", { annotations }],
    ["large", {}],
  ] as const)
    api.seed(machineClassResource, { metadata: { name, namespace, ...metadata }, provider: "mock", providerSpec: {} });
  const { classes } = createControlCaches({ api, namespace, clock: systemClock, random: systemRandom });
  const stop = new AbortController();
  void classes.run(stop.signal);
  await classes.synced(stop.signal);
  const registry = new Registry();
  measureOrphanVms(registry, namespace, { classes });
  const metrics = await registry.metrics();
  expect(metrics).toContain('millwright_orphan_vms{namespace="shoot",machine_class="small"} 2');
  expect(metrics).toContain('millwright_orphan_vms{namespace="shoot",machine_class="large"} 0');
  stop.abort();
});
