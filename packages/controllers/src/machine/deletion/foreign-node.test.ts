import { MachineError } from "@millwright/core";
import { labelKeys, type Machine, machineResource } from "@millwright/core/machine-api";
import { nodeResource, podResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, aNode, type Change, labeled, named, refOf } from "../../testing/builders.ts";
import { MINUTE } from "../../testing/machine-fleet.ts";
import { nodeRef, ready, ref, setUp } from "../../testing/machine-process.ts";

const cp = { name: "cp-1" };

/** A Ready Node from before the machine, with a pod: of the control plane, or of a machine of another namespace. */
const foreignNode = (change: { readonly id?: string; readonly machineName?: string } = {}): Node =>
  aNode({
    metadata: {
      ...cp,
      creationTimestamp: "2025-01-01T00:00:00Z",
      labels: change.machineName === undefined ? {} : { [labelKeys.machineName]: change.machineName },
    },
    spec: change.id === undefined ? {} : { providerID: change.id },
    status: ready("True"),
  });

/** A process with that Node and machine. */
async function withForeignNode(node: Node, ...changes: readonly Change<Machine>[]) {
  const cluster = setUp();
  const { api, create, clock, start } = cluster;
  api.seed(nodeResource, node);
  api.seed(podResource, {
    metadata: { namespace: "default", name: "web", uid: "u1" },
    spec: { nodeName: node.metadata.name },
  } as never);
  const live = async (ms: number) => {
    create(...changes);
    await start();
    await clock.advance(ms);
  };
  const remove = async (ms = 10 * MINUTE) => {
    await api.delete(machineResource, ref);
    await clock.advance(ms);
  };
  const current = () => api.peek<Node>(nodeResource, { name: node.metadata.name });
  const writesOfNode = () => cluster.writes().filter((write) => / (?:nodes|pods)/u.test(write));
  return { ...cluster, live, remove, current, writesOfNode };
}

describe("the node of others is neither changed, drained nor deleted with a machine", () => {
  it.each([
    ["that another installation has named", foreignNode({ id: "aws:///eu/i-cp", machineName: "of-other-namespace" })],
    ["with an id", foreignNode({ id: "aws:///eu/i-cp" })],
    ["without an id", foreignNode()],
  ])("whose label names one %s, and whose class does not exist", async (_, node) => {
    const { live, remove, machine, current, writesOfNode } = await withForeignNode(node, labeled({ node: "cp-1" }), {
      spec: { class: { name: "missing" } },
    });
    await live(MINUTE);
    await remove();
    expect(machine()).toBeUndefined();
    expect(current()).toMatchObject({ metadata: node.metadata, spec: node.spec });
    expect(writesOfNode()).toEqual([]);
  });

  it("whose label names one, and whose VM could not be created until it was Failed", async () => {
    const { driver, live, remove, machine, phase, writesOfNode } = await withForeignNode(
      foreignNode(),
      labeled({ node: "cp-1" }),
    );
    driver.fail("ensureVm", "ResourceExhausted", 1_000);
    await live(30 * MINUTE);
    expect(phase()).toBe("Failed");
    await remove();
    expect(machine()).toBeUndefined();
    expect(writesOfNode()).toEqual([]);
  });

  it("that has the id of a foreign VM, which its driver refuses to delete", async () => {
    const id = "aws:///eu/i-cp";
    const { driver, live, remove, phase, machine, current, writesOfNode } = await withForeignNode(
      foreignNode({ id, machineName: "of-other-namespace" }),
      { spec: { providerID: id } },
    );
    Object.assign(driver, {
      // Drivers without such a step.
      initializeVm: async () => ({ ok: true, value: {} }),
      deleteVm: async () => ({ ok: false, error: new MachineError("PermissionDenied", "another owner") }),
    });
    await live(5 * MINUTE);
    expect(phase()).toBe("Running");
    await remove();
    expect(machine()?.status?.lastOperation?.description).toContain("PermissionDenied");
    expect(current()?.metadata.labels).toEqual({ [labelKeys.machineName]: "of-other-namespace" });
    expect(writesOfNode()).toEqual([]);
  });
});

it("a machine without id whose label names a foreign node is looked up: its own node is drained and deleted", async () => {
  const { api, clock, driver, create, start, machine } = setUp();
  const node = foreignNode({ id: "aws:///eu/i-cp" });
  api.seed(nodeResource, node);
  api.seed(nodeResource, aNode({ metadata: nodeRef, status: ready("True") }));
  driver.vms.set("uid-machine", "vm-1");
  create(labeled({ node: "cp-1" }));
  await api.delete(machineResource, ref);
  await start();
  await clock.advance(10 * MINUTE);
  expect(driver.calls).toEqual(["findVm machine", "deleteVm machine"]);
  expect([machine(), api.peek(nodeResource, nodeRef)]).toEqual([undefined, undefined]);
  expect(api.peek(nodeResource, cp)).toMatchObject({ metadata: node.metadata, spec: node.spec });
});

it.each<[string, Parameters<typeof aNode>[0]]>([
  ["also where no id links the two, as without a cloud controller manager", {}],
  ["also where the node has an id of another form", { spec: { providerID: "metal/1" } }],
  ["also where it is named by the machine", { metadata: { labels: { [labelKeys.machineName]: "machine" } } }],
])("the node of a machine is drained and deleted with it, %s", async (_, { metadata = {}, spec = {} } = {}) => {
  const { api, clock, driver, create, start, machine } = setUp();
  driver.vms.set("uid-machine", "vm-1");
  const running = { currentStatus: { phase: "Running" as const, lastUpdateTime: "2026-01-01T00:00:00Z" } };
  create(labeled({ node: nodeRef.name }), { spec: { providerID: "vm-1" }, status: running });
  await api.delete(machineResource, ref);
  api.seed(nodeResource, aNode({ metadata: { ...nodeRef, ...metadata }, spec, status: ready("True") }));
  const pod = { metadata: { namespace: "default", name: "web", uid: "u1" }, spec: { nodeName: nodeRef.name } };
  api.seed(podResource, pod as never);
  await start();
  await clock.advance(10 * MINUTE);
  const written = api.writes().map(({ verb, resource, subresource = "" }) => `${verb} ${resource}/${subresource}`);
  expect(written).toContain("create pods/eviction");
  expect([machine(), api.peek(nodeResource, nodeRef)]).toEqual([undefined, undefined]);
});

it("the node of a new VM that has taken the name of a deleted one is not drained with the machine of the deleted one", async () => {
  const { api, clock, driver, create, start, machine } = setUp();
  create(labeled({ node: "ip-10-0-0-1" }), {
    metadata: { creationTimestamp: "2025-12-01T00:00:00Z" },
    spec: { providerID: "mock:///a/i-old" },
  });
  await api.delete(machineResource, ref);
  api.seed(
    machineResource,
    aMachine(named("fresh"), labeled({ node: "ip-10-0-0-1" }), {
      spec: { providerID: "mock:///a/i-new" },
      status: { currentStatus: { phase: "Pending", lastUpdateTime: "2026-01-01T00:00:00Z" } },
    }),
  );
  driver.vms.set("uid-fresh", "mock:///a/i-new");
  // The cloud controller manager has not set its id yet.
  const taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
  const creationTimestamp = "2026-01-01T00:01:00Z";
  api.seed(nodeResource, aNode({ metadata: { name: "ip-10-0-0-1", creationTimestamp }, spec: { taints: [taint] } }));
  await start();
  await clock.advance(5 * MINUTE);
  expect([machine(), api.peek<Machine>(machineResource, refOf("fresh"))?.metadata.name]).toEqual([undefined, "fresh"]);
  const node = api.peek<Node>(nodeResource, { name: "ip-10-0-0-1" });
  expect(node?.metadata.labels).toEqual({ [labelKeys.machineName]: "fresh" });
  expect(node?.spec?.unschedulable).not.toBe(true);
});
