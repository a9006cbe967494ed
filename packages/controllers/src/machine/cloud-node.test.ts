import { machineResource } from "@millwright/core/machine-api";
import { nodeResource, podResource } from "@millwright/kube";
import { expect, it } from "vitest";
import type { Node } from "../model/node-objects.ts";
import { aNode } from "../testing/builders.ts";
import { nodeRef, ready, ref, setUp } from "../testing/machine-process.ts";

/*
 * Nodes as kubelets with an external cloud provider register them, and as the cloud controller manager completes them
 * (kubernetes/cloud-provider, controllers/node/node_controller.go).
 */

const uninitialized = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};

/** A cluster whose machine has the VM `aws:///eu-west-1/vm-1`, and whose kubelet has registered. */
async function registered() {
  const setup = setUp({ idPrefix: "aws:///eu-west-1/" });
  setup.create();
  await setup.start();
  await setup.clock.advance(10);
  setup.api.seed(nodeResource, aNode({ metadata: nodeRef, spec: { taints: [uninitialized] }, status: ready() }));
  await setup.clock.advance(10);
  return {
    ...setup,
    initialize: async (providerID: string): Promise<void> => {
      setup.api.change(nodeResource, nodeRef, { spec: { providerID, taints: [] } });
      await setup.clock.advance(10);
    },
    seedPod: () =>
      setup.api.seed(podResource, {
        metadata: { namespace: "default", name: "web", finalizers: ["x/y"] },
        spec: { nodeName: nodeRef.name },
      } as never),
  };
}

it("keeps its machine Pending until the cloud controller manager has initialized it", async () => {
  const { phase, initialize, machine, clock } = await registered();
  await clock.advance(1_000);
  expect(phase()).toBe("Pending");
  await initialize("aws:///eu-west-1a/vm-1");
  expect(phase()).toBe("Running");
  expect(machine()?.metadata.labels?.["node"]).toBe(nodeRef.name);
});

it.each(["aws:///eu-west-1a/vm-1", "aws:///eu-west-1/vm-1", "AWS:///EU-WEST-1A/VM-1", "i-of-another-form", ""])(
  "stays its machine's, also after a restart, and is drained before the VM is deleted, with provider id %j",
  async (providerID) => {
    const { api, clock, phase, initialize, start, stopAll, seedPod, driver, machine } = await registered();
    await initialize(providerID);
    await stopAll();
    await start();
    await clock.advance(3_600_000);
    expect([phase(), driver.vms.size]).toEqual(["Running", 1]);
    seedPod();
    await api.delete(machineResource, ref);
    await clock.advance(10_000);
    expect(api.writes().filter(({ subresource }) => subresource === "eviction")).toHaveLength(1);
    expect(driver.vms.size).toBe(1);
    api.remove(podResource, { namespace: "default", name: "web" });
    await clock.advance(100);
    expect([driver.vms.size, machine(), api.all(nodeResource)]).toEqual([0, undefined, []]);
  },
);

it("is drained and deleted with a machine that names no node, by its provider id", async () => {
  const { api, clock, initialize, seedPod, driver } = await registered();
  await initialize("aws:///eu-west-1a/vm-1");
  api.change(machineResource, ref, { metadata: { labels: { node: null as never } } });
  api.change(nodeResource, nodeRef, { metadata: { labels: { "node.gardener.cloud/machine-name": null as never } } });
  seedPod();
  await api.delete(machineResource, ref);
  await clock.advance(10_000);
  expect(api.writes().filter(({ subresource }) => subresource === "eviction")).toHaveLength(1);
  expect(driver.vms.size).toBe(1);
});

it("is neither drained nor deleted with a machine whose VM it is not", async () => {
  const { api, clock, initialize, seedPod, driver, machine } = await registered();
  await initialize("aws:///eu-west-1a/vm-2");
  seedPod();
  await api.delete(machineResource, ref);
  await clock.advance(10_000);
  expect(api.writes().filter(({ subresource }) => subresource === "eviction")).toHaveLength(0);
  expect([driver.vms.size, machine()]).toEqual([0, undefined]);
  expect(api.peek<Node>(nodeResource, nodeRef)).toBeDefined();
});

it("is its machine's when it registered before the provider id was stored", async () => {
  const setup = setUp({ idPrefix: "aws:///eu-west-1/" });
  setup.api.seed(nodeResource, aNode({ metadata: nodeRef, spec: { taints: [uninitialized] }, status: ready() }));
  setup.create();
  await setup.start();
  await setup.clock.advance(1_010);
  expect([setup.phase(), setup.driver.vms.size]).toEqual(["Pending", 1]);
  setup.api.change(nodeResource, nodeRef, { spec: { providerID: "aws:///eu-west-1a/vm-1", taints: [] } });
  await setup.clock.advance(10);
  expect(setup.phase()).toBe("Running");
});
