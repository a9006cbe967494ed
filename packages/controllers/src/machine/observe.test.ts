import { machineClassResource, machineResource } from "@millwright/core";
import { nodeResource, podResource, secretResource, volumeAttachmentResource } from "@millwright/kube";
import { describe, expect, it, test } from "vitest";
import { aMachine, aMachineClass, aNode, beingDeleted, named, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createFakeDriver } from "../testing/fake-driver.ts";
import { withVm } from "../testing/snapshots.ts";
import { createRepairWatch } from "./health/repair-watch.ts";
import { observeMachine } from "./observe.ts";
import { createVolumeIds } from "../drain/volume-ids.ts";
import { createOperations } from "./operations/operations.ts";
import { defaultMachineSettings } from "./snapshot.ts";
import { createTold } from "./told.ts";

const stop = new AbortController();

/** The snapshot of a machine among those objects. */
async function observe(
  machine: ReturnType<typeof aMachine>,
  nodes: readonly ReturnType<typeof aNode>[] = [],
  options: { readonly hasTarget?: boolean; readonly others?: readonly ReturnType<typeof aMachine>[] } = {},
) {
  const { api, clock, newContext, run } = createTestCluster();
  const stored = api.seed(machineResource, machine);
  for (const other of options.others ?? []) api.seed(machineResource, other);
  api.seed(machineClassResource, aMachineClass());
  const data = { userData: Buffer.from("x").toString("base64") };
  api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data } as never);
  for (const node of nodes) api.seed(nodeResource, node);
  for (const nodeName of ["node", "other"]) {
    api.seed(podResource, { metadata: { name: `pod-of-${nodeName}`, namespace: "x" }, spec: { nodeName } } as never);
    api.seed(volumeAttachmentResource, { metadata: { name: `va-of-${nodeName}` }, spec: { nodeName } } as never);
  }
  const { target, ...rest } = newContext();
  const context = options.hasTarget === false ? rest : { ...rest, target };
  await run(context, stop.signal);
  await context.caches.secrets.read(["small"]);
  const cached = context.caches.machines.store.get(`${testNamespace}/${stored.metadata.name}`) ?? stored;
  const operations = createOperations(clock);
  return {
    ...observeMachine(cached, {
      context,
      operations,
      told: createTold(),
      repairs: createRepairWatch(context, defaultMachineSettings, { enqueue: () => undefined }),
      driver: createFakeDriver(),
      settings: defaultMachineSettings,
      evictions: { view: () => undefined },
      volumeIds: createVolumeIds(clock),
    }),
    operations,
  };
}

describe("the node of a machine", () => {
  const node = (name: string, providerID?: string, machineName?: string) =>
    aNode({
      metadata: { name, labels: machineName === undefined ? {} : { "node.gardener.cloud/machine-name": machineName } },
      spec: providerID === undefined ? {} : { providerID },
    });
  const unlabelled = aMachine({ spec: { providerID: "vm-1" } });

  test.each([
    ["is the one that the label names", aMachine(withVm), [node("node")], "node"],
    ["is the one that the label names, with the VM's id", aMachine(withVm), [node("node", "vm-1")], "node"],
    ["is not one of the same name with another VM", aMachine(withVm), [node("node", "vm-2")], undefined],
    [
      "is the VM's although the label names another VM's",
      aMachine(withVm),
      [node("node", "vm-2"), node("b", "vm-1")],
      "b",
    ],
    ["is found by the VM's id when there is no label", unlabelled, [node("a", "vm-2"), node("b", "vm-1")], "b"],
    ["is found by the name that we put on it", unlabelled, [node("a", undefined, "machine")], "a"],
    ["is not one with our name that another VM became", unlabelled, [node("a", "vm-2", "machine")], undefined],
    ["is found by our name when no id is stored yet", aMachine(), [node("a", "vm-9", "machine")], "a"],
    ["is none of those without any tie", unlabelled, [node("machine")], undefined],
    ["is none where nothing is known", aMachine(), [node("a", "", "other")], undefined],
  ])("%s", async (_, machine, nodes, expected) => {
    expect((await observe(machine, nodes)).snapshot.node?.metadata.name).toBe(expected);
  });
});

describe("other machines that claim the node", () => {
  const twin = (providerID: string) => aMachine(withVm, named("a-twin"), { spec: { providerID } });
  test.each([
    ["count when nothing tells the VMs apart", "vm-1", "vm-1", ["a-twin"]],
    ["count when it is their VM", "", "vm-1", ["a-twin"]],
    ["do not count when it is another VM's", "vm-1", "vm-2", []],
    ["are looked for by the label alone where the node names no VM", "vm-1", "", ["a-twin"]],
  ])("%s", async (_, own, others, expected) => {
    const machine = aMachine(withVm, { spec: { providerID: own } });
    const spec = others === "" ? {} : { providerID: "vm-1" };
    const nodes = [aNode({ metadata: { name: "node" }, spec })];
    const { snapshot } = await observe(machine, nodes, { others: [twin(others)] });
    expect(snapshot.betterClaims).toEqual(expected);
  });
});

describe("what is read", () => {
  it("is the class with its secret, and no pods of a machine that lives", async () => {
    const { snapshot, resolved } = await observe(aMachine(withVm), [aNode()]);
    expect(snapshot).toMatchObject({
      isReadable: true,
      problems: [],
      hasTarget: true,
      classView: { state: "usable" },
      drain: undefined,
      pods: [],
      attachments: [],
      settings: defaultMachineSettings,
    });
    expect(snapshot.operation).toBeUndefined();
    expect(snapshot.inputs).toBe(resolved.inputs);
    expect(resolved.secret["userData"]?.reveal()).toBe("x");
  });

  it("is pods and attachments of its own node while it is being deleted", async () => {
    const { snapshot } = await observe(aMachine(withVm, beingDeleted()), [
      aNode(),
      aNode({ metadata: { name: "other" } }),
    ]);
    expect(snapshot.pods.map(({ metadata }) => metadata.name)).toEqual(["pod-of-node"]);
    expect(snapshot.attachments.map(({ metadata }) => metadata.name)).toEqual(["va-of-node"]);
    expect(snapshot.drain).toMatchObject({ node: { metadata: { name: "node" } }, pods: snapshot.pods, rules: [] });
  });

  it("is nothing of nodes without a target cluster", async () => {
    const { snapshot } = await observe(aMachine(withVm, beingDeleted()), [aNode()], { hasTarget: false });
    expect(snapshot).toMatchObject({ hasTarget: false, drain: undefined, pods: [], attachments: [] });
    expect(snapshot.node).toBeUndefined();
  });

  it("is everything that is wrong with the machine", async () => {
    const { snapshot } = await observe(aMachine(named("m"), { spec: { class: { kind: "Other", name: null } } }));
    expect(snapshot.isReadable).toBe(true);
    expect(snapshot.problems.map(({ path }) => path)).toEqual(["spec.class.kind", "spec.class.name"]);
  });

  it("is nothing but the metadata of an object that has not the shape of a machine", async () => {
    const { snapshot } = await observe({ ...aMachine(withVm), spec: { providerID: 3 } } as never, [aNode()]);
    expect(snapshot.isReadable).toBe(false);
    expect(snapshot.problems).toMatchObject([{ path: "spec.providerID" }]);
    expect(snapshot.machine.spec).toEqual({});
  });
});
