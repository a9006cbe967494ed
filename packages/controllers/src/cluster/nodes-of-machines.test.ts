import { type Machine, machineResource } from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { expect, it } from "vitest";
import { aMachine, inPhase, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { nodesOfMachines } from "./nodes-of-machines.ts";

const providerID = "mock:///vm-1";
const named = (name: string, createdAt: string): Machine =>
  aMachine(
    {
      metadata: { name, uid: `uid-${name}`, labels: { node: "vm-1" }, creationTimestamp: createdAt },
      spec: { providerID },
    },
    inPhase("Running"),
  );

it("gives the node of a VM to the Machine that has it, and not to its copy", async () => {
  const cluster = createTestCluster();
  const machines = [named("copy", "2026-01-02T00:00:00Z"), named("first", "2026-01-01T00:00:00Z")];
  for (const machine of machines) await cluster.api.create(machineResource, machine);
  await cluster.api.create(nodeResource, { metadata: { name: "vm-1" }, spec: { providerID } });
  const context = cluster.newContext();
  const end = new AbortController();
  await cluster.run(context, end.signal);
  const stored = context.caches.machines.store.list(testNamespace);
  expect([...nodesOfMachines(stored, context).keys()]).toEqual(["first"]);
  end.abort();
});

it("gives nothing without a target cluster", () => {
  const { target: _, ...context } = createTestCluster().newContext();
  expect(nodesOfMachines([named("first", "2026-01-01T00:00:00Z")], context).size).toBe(0);
});
