import { createControlCaches } from "@millwright/controllers";
import { systemClock, systemRandom } from "@millwright/base";
import {
  annotationKeys,
  machineApiVersion,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createFakeApi } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureProtectedDeletions } from "./fleet-gauges.ts";

const namespace = "shoot";
const terminating = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/kept"] };
const isKept = { annotations: { [annotationKeys.deletionProtection]: "true" } };
const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: machineApiVersion, kind, name, uid: `uid-${name}`, controller: true }],
});

it("counts terminating objects that deletion protection keeps, by kind", async () => {
  const api = createFakeApi();
  const template = { spec: {} };
  const seedMachine = (name: string, metadata: object, status: object = {}): void =>
    void api.seed(machineResource, { metadata: { name, namespace, ...metadata }, spec: {}, status });
  api.seed(machineDeploymentResource, {
    metadata: { name: "pool", namespace, uid: "uid-pool", ...isKept, ...terminating },
    spec: { template },
  });
  api.seed(machineSetResource, {
    metadata: { name: "pool-1", namespace, uid: "uid-pool-1", ...ownedBy("MachineDeployment", "pool") },
    spec: { template },
  });
  seedMachine("own", { ...isKept, ...terminating });
  seedMachine("cascade", { ...ownedBy("MachineSet", "pool-1"), ...terminating });
  seedMachine("stays", isKept);
  seedMachine("free", terminating);
  const description = "VM deletion was successful. Initiate node object deletion";
  const lastOperation = { type: "Delete", description };
  seedMachine("gone", { ...isKept, ...terminating }, { currentStatus: { phase: "Terminating" }, lastOperation });
  const caches = createControlCaches({ api, namespace, clock: systemClock, random: systemRandom });
  const stop = new AbortController();
  for (const cache of [caches.machines, caches.sets, caches.deployments]) {
    void cache.run(stop.signal);
    await cache.synced(stop.signal);
  }
  const registry = new Registry();
  measureProtectedDeletions(registry, namespace, caches);
  const metrics = await registry.metrics();
  expect(metrics).toContain('millwright_protected_deletions{namespace="shoot",kind="Machine"} 2');
  expect(metrics).toContain('millwright_protected_deletions{namespace="shoot",kind="MachineDeployment"} 1');
  stop.abort();
});
