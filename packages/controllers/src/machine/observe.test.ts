import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { nodeResource, podResource, secretResource, volumeAttachmentResource } from "@millwright/kube";
import { describe, expect, it, test } from "vitest";
import type { ControllerContext } from "../cluster/context.ts";
import { createPodKnowledge } from "../drain/known-pods.ts";
import type { MatchVm } from "../model/pick-node.ts";
import {
  aMachine,
  aMachineClass,
  aNode,
  annotated,
  beingDeleted,
  type Change,
  named,
  testNamespace,
} from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createFakeDriver } from "../testing/fake-driver.ts";
import { withVm } from "../testing/snapshots.ts";
import { createRemediationWatch } from "../remediation/remediation-watch.ts";
import { observeMachine } from "./observe.ts";
import { createObservedDrains } from "../drain/observed-drains.ts";
import { createVolumeIds } from "../drain/volume-ids.ts";
import { createOperations } from "./operations/operations.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { createRestoredTaints } from "./state/restored-taints.ts";
import { createNodeReads } from "./state/node-reads.ts";
import { createReportedProblems } from "./state/reported-problems.ts";
import { fixed } from "../model/live.ts";

const stop = new AbortController();

/** The snapshot of a machine among those objects. */
async function observe(
  machine: ReturnType<typeof aMachine>,
  nodes: readonly ReturnType<typeof aNode>[] = [],
  options: {
    readonly hasTarget?: boolean;
    readonly others?: readonly ReturnType<typeof aMachine>[];
    readonly matchVm?: MatchVm;
    readonly targetAheadMs?: number;
  } = {},
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
  const { matchVm } = options;
  const { target, ...rest } = { ...newContext(), ...(matchVm === undefined ? {} : { matchVm }) };
  const targetClock = { ...clock, now: () => new Date(clock.now().getTime() + (options.targetAheadMs ?? 0)) };
  const context: ControllerContext =
    options.hasTarget === false ? rest : { ...rest, target: { ...target, clock: targetClock } };
  await run(context, stop.signal);
  await context.caches.secrets.read(["small"]);
  const cached = context.caches.machines.store.get(`${testNamespace}/${stored.metadata.name}`) ?? stored;
  const operations = createOperations(clock);
  return {
    ...observeMachine(cached, {
      context,
      operations,
      reported: createReportedProblems(),
      nodeReads: createNodeReads(clock),
      restoredTaints: createRestoredTaints(clock),
      remediations: createRemediationWatch(context, fixed(defaultMachineSettings), { enqueue: () => undefined }),
      driver: createFakeDriver(),
      guards: [],
      settings: defaultMachineSettings,
      drains: {
        evictions: { view: () => undefined },
        volumeIds: createVolumeIds(clock),
        observedDrains: createObservedDrains(context.clock),
        podKnowledge: context.target === undefined ? undefined : createPodKnowledge(context.target.caches.pods),
      },
    }),
    operations,
  };
}

test.each<[string, Machine, string | undefined]>([
  ["that of a terminating machine, whether the cache has it or not", aMachine(beingDeleted(), withVm), "node"],
  ["that of no other machine", aMachine(withVm), undefined],
  ["that of no machine without the name of a node", aMachine(beingDeleted()), undefined],
])("the node to read is %s", async (_, machine, expected) => {
  expect((await observe(machine, [])).snapshot.link.unreadNode).toBe(expected);
  expect((await observe(machine, [aNode()])).snapshot.link.unreadNode).toBe(expected);
});

describe("the node of a machine", () => {
  const node = (name: string, providerID?: string, machineName?: string) =>
    aNode({
      metadata: { name, labels: machineName === undefined ? {} : { "node.gardener.cloud/machine-name": machineName } },
      spec: providerID === undefined ? {} : { providerID },
    });
  const vm = (id: string) => ({ spec: { providerID: `aws:///eu-west-1/${id}` } });
  const unlabeled = aMachine(vm("i-1"));
  const labeledToo = aMachine(withVm, vm("i-1"));
  const ours = "aws:///eu-west-1a/i-1";
  const foreign = "aws:///eu-west-1a/i-2";

  test.each([
    ["is the one that the label names", aMachine(withVm), [node("node")], "node"],
    ["is the one that the label names, before it has an id", labeledToo, [node("node", "")], "node"],
    ["is the one that the label names, with the zone in its id", labeledToo, [node("node", ours)], "node"],
    [
      "is the one that the label names, with the id of the machine",
      labeledToo,
      [node("node", "aws:///eu-west-1/i-1")],
      "node",
    ],
    [
      "is the one that the label names, with an id in upper case",
      labeledToo,
      [node("node", ours.toUpperCase())],
      "node",
    ],
    ["is the one that the label names, with an id of an unknown form", labeledToo, [node("node", "vm-2")], "node"],
    ["is not one of the same name with another VM", labeledToo, [node("node", foreign)], undefined],
    ["is the VM's although the label names another VM's", labeledToo, [node("node", foreign), node("b", ours)], "b"],
    ["is the VM's although the label names one without an id", labeledToo, [node("node"), node("b", ours)], "b"],
    ["is found by the VM's id when there is no label", unlabeled, [node("a", foreign), node("b", ours)], "b"],
    ["is found by the machine's name in its label", unlabeled, [node("a", undefined, "machine")], "a"],
    [
      "is not one with the machine's name that another VM became",
      unlabeled,
      [node("a", foreign, "machine")],
      undefined,
    ],
    ["is found by the machine's name when no id is stored yet", aMachine(), [node("a", foreign, "machine")], "a"],
    ["is not one whose id ends alike in another cloud", unlabeled, [node("a", "gce://p/z/i-1")], undefined],
    ["is none of those without any tie", unlabeled, [node("machine")], undefined],
    ["is none where nothing is known", aMachine(), [node("a", "", "other")], undefined],
  ])("%s", async (_, machine, nodes, expected) => {
    expect((await observe(machine, nodes)).snapshot.node?.metadata.name).toBe(expected);
  });

  it("is proved by ids, or only linked by names", async () => {
    const matchOf = async (id?: string) => (await observe(labeledToo, [node("node", id)])).snapshot.link.match;
    expect([await matchOf(ours), await matchOf()]).toEqual(["same", "unknown"]);
  });

  it("is reported apart when the label names the node of another VM", async () => {
    const { snapshot } = await observe(labeledToo, [node("node", foreign)]);
    expect(snapshot.link.foreignNode?.metadata.name).toBe("node");
  });

  it("is what the driver of the class answers, with all that is known of VM and node", async () => {
    const matched: unknown[] = [];
    const matchVm: MatchVm = (...facts) => {
      matched.push(facts);
      return "different";
    };
    const known = aNode({
      metadata: { name: "node" },
      spec: { providerID: "metal://1" },
      status: { nodeInfo: { systemUUID: "ab-1" }, addresses: [{ type: "InternalIP", address: "10.0.0.1" }] },
    });
    const { snapshot } = await observe(labeledToo, [known], { matchVm });
    expect(snapshot.node).toBeUndefined();
    expect(snapshot.link.foreignNode?.metadata.name).toBe("node");
    expect(matched[0]).toEqual([
      "mock",
      { machineName: "machine", providerId: "aws:///eu-west-1/i-1", nodeName: "node", addresses: [] },
      {
        name: "node",
        providerId: "metal://1",
        systemUuid: "ab-1",
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
      },
    ]);
  });
});

describe("other machines that claim the node", () => {
  const twin = (providerID: string) => aMachine(withVm, named("a-twin"), { spec: { providerID } });
  test.each([
    ["count when it is their VM", "vm-2", "vm-1", "vm-1", ["a-twin"]],
    ["do not count when it belongs to another VM", "mock:///a/vm-1", "mock:///a/vm-2", "mock:///a/vm-1", []],
    [
      "do not count when the node's id has another form, and they are of another VM",
      "mock:///b/vm-1",
      "mock:///b/vm-2",
      "mock:///zone/vm-1",
      [],
    ],
    ["are looked for by the label alone where the node names no VM", "vm-1", "vm-2", "", ["a-twin"]],
    ["do not count before they have a VM", "vm-1", "", "", []],
  ])("%s", async (_, own, others, providerID, expected) => {
    const machine = aMachine(withVm, { spec: { providerID: own } });
    const nodes = [aNode({ metadata: { name: "node" }, spec: { providerID } })];
    const { snapshot } = await observe(machine, nodes, { others: [twin(others)] });
    expect(snapshot.link.competingMachines).toEqual(expected);
  });

  test.each([
    ["is drained by the one that has precedence", "machine", "z-twin", true],
    ["is neither drained nor deleted by the other", "machine", "a-twin", false],
  ])("a node that two machines name, and no id, %s", async (_, own, other, isDrained) => {
    const machine = aMachine(withVm, named(own), beingDeleted());
    const others = [aMachine(withVm, named(other), { spec: { providerID: "vm-2" } })];
    const { snapshot } = await observe(machine, [aNode({ metadata: { name: "node" } })], { others });
    expect([snapshot.node !== undefined, snapshot.drain !== undefined]).toEqual([isDrained, isDrained]);
  });
});

it("is neither drained nor deleted by a machine that only names it, while that of its VM is deleted, too", async () => {
  const providerID = "mock:///eu-1/i-1";
  const machine = aMachine(withVm, named("a"), { spec: { providerID: null } }, beingDeleted());
  const others = [aMachine(withVm, named("b"), { spec: { providerID } }, beingDeleted())];
  const { snapshot } = await observe(machine, [aNode({ metadata: { name: "node" }, spec: { providerID } })], {
    others,
  });
  expect([snapshot.node, snapshot.drain, snapshot.link.foreignNode?.metadata.name]).toEqual([
    undefined,
    undefined,
    "node",
  ]);
});

it("has its times by the clock of its own API server", async () => {
  const node = aNode({ metadata: { name: "node" } });
  expect((await observe(aMachine(withVm), [node], { targetAheadMs: 5_000 })).snapshot.link.clockAheadMs).toBe(5_000);
});

describe("another Machine that holds the VM", () => {
  const id = "mock:///eu-1/i-1";
  const older = { metadata: { creationTimestamp: "2025-12-31T00:00:00Z" } };
  const younger = { metadata: { creationTimestamp: "2026-01-02T00:00:00Z" } };
  const withId = (providerID: string | null = id) => ({ spec: { providerID } });
  const one = (name: string, ...changes: readonly Change<Machine>[]) => aMachine(named(name), withId(), ...changes);

  test.each<[string, ReturnType<typeof aMachine>, readonly ReturnType<typeof aMachine>[], string | undefined]>([
    ["is none for a VM of one machine", one("a"), [one("b", withId("mock:///eu-1/i-2"))], undefined],
    ["is the older one", one("a", younger), [one("b")], "b"],
    [
      "is the older one, also when it is terminating: it deletes the VM",
      one("a"),
      [one("b", older, beingDeleted())],
      "b",
    ],
    ["is none for the older one", one("a"), [one("b", younger)], undefined],
    ["is the one with the smaller UID, if they are of the same age", one("b"), [one("a")], "a"],
    ["is the oldest of several", one("a"), [one("b", older), one("c", younger)], "b"],
    ["is recognized in another form of the id", one("a", younger, withId("MOCK:///zone/I-1")), [one("b")], "b"],
    [
      "is the one that the VM is named after",
      one("a", withId("gce:///p/z/b")),
      [one("b", younger, withId("gce:///p/z/b"))],
      "b",
    ],
    [
      "is none for the one that the VM is named after",
      one("a", younger, withId("gce:///p/z/a")),
      [one("b", withId("gce:///p/z/a"))],
      undefined,
    ],
    ["is none for a machine without VM", one("a", withId(null)), [one("b", withId(null))], undefined],
  ])("%s", async (_, machine, others, expected) => {
    const { snapshot } = await observe(machine, [], { others });
    expect(snapshot.holder?.name).toBe(expected);
  });

  it("is the one that the node of the VM names, such as after the id of an older machine was edited", async () => {
    const node = aNode({
      metadata: { name: "n", labels: { "node.gardener.cloud/machine-name": "young" } },
      spec: { providerID: id },
    });
    const [old, young] = [one("old"), one("young", younger)];
    const holders = [
      (await observe(old, [node], { others: [young] })).snapshot.holder,
      (await observe(young, [node], { others: [old] })).snapshot.holder,
    ];
    expect(holders).toEqual([{ name: "young", providerId: id }, undefined]);
  });

  it("has the node: the machine has none, and drains none", async () => {
    const node = aNode({ metadata: { name: "node" }, spec: { providerID: id } });
    const copy = aMachine(withVm, named("copy"), withId(), younger, beingDeleted());
    const { snapshot } = await observe(copy, [node], { others: [one("real")] });
    expect([snapshot.holder?.name, snapshot.node, snapshot.drain, snapshot.pods]).toEqual([
      "real",
      undefined,
      undefined,
      [],
    ]);
  });

  it("is found by the VM with which a driver answered before, too", async () => {
    const intent = JSON.stringify({ attempt: 1, class: "small", provider: "mock", foreignVm: id });
    const machine = one("a", older, withId(null), annotated({ "machine.millwright.dev/creation-intent": intent }));
    const { snapshot } = await observe(machine, [], { others: [one("b")] });
    expect(snapshot.holder).toEqual({ name: "b", providerId: id });
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

  it("is pods that are left of its own node, which is absent", async () => {
    const { snapshot } = await observe(aMachine(withVm, beingDeleted()), []);
    expect(snapshot.node).toBeUndefined();
    expect(snapshot.pods.map(({ metadata }) => metadata.name)).toEqual(["pod-of-node"]);
  });

  describe("of a VM with two nodes", () => {
    const providerID = "mock:///vm-1";
    const machine = aMachine(withVm, { spec: { providerID } });
    const leaving = aMachine(withVm, { spec: { providerID } }, beingDeleted());
    const nodeOf = (name: string, ready: string, createdAt: string) => ({
      ...aNode({
        metadata: { name, uid: `uid-${name}`, labels: {}, creationTimestamp: createdAt },
        status: { conditions: [{ type: "Ready", status: ready }] },
      }),
      spec: { providerID },
    });
    const old = (ready: string) => nodeOf("node", ready, "2026-01-01T00:00:00Z");
    const young = nodeOf("other", "True", "2026-01-02T00:00:00Z");
    const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[] = []) =>
      objects.map(({ metadata }) => metadata.name);

    it("is the one that counts, and the other one", async () => {
      const { snapshot } = await observe(machine, [old("Unknown"), young]);
      expect([snapshot.node?.metadata.name, snapshot.otherNodes?.map(({ node }) => node.metadata.name)]).toEqual([
        "other",
        ["node"],
      ]);
      expect(snapshot.otherNodes?.[0]?.pods).toEqual([]);
      expect(snapshot.link.unreadNode).toBeUndefined();
    });

    it("is what uses each of them, and the pods of both for the drain of two that are ready", async () => {
      const { snapshot } = await observe(leaving, [old("True"), young]);
      expect([namesOf(snapshot.pods), namesOf(snapshot.otherNodes?.[0]?.pods)]).toEqual([
        ["pod-of-other"],
        ["pod-of-node"],
      ]);
      expect(namesOf(snapshot.otherNodes?.[0]?.attachments)).toEqual(["va-of-node"]);
      expect([namesOf(snapshot.drain?.pods), namesOf(snapshot.drain?.otherNodes)]).toEqual([
        ["pod-of-other", "pod-of-node"],
        ["node"],
      ]);
      expect([snapshot.drain?.knownPods, snapshot.link.unreadNode]).toEqual(["unconfirmed", "other"]);
    });

    it("is not the pods of one that is not ready for the drain", async () => {
      const { snapshot } = await observe(leaving, [old("Unknown"), young]);
      expect([namesOf(snapshot.drain?.pods), snapshot.drain?.otherNodes]).toEqual([["pod-of-other"], undefined]);
    });

    it("is not a node that belongs to another Machine", async () => {
      const rival = aMachine(withVm, { metadata: { name: "a", uid: "uid-a" }, spec: { providerID: "mock:///vm-2" } });
      const matchVm: MatchVm = () => "same";
      const { snapshot } = await observe(machine, [old("Unknown"), young], { others: [rival], matchVm });
      expect(snapshot.otherNodes).toEqual([]);
    });
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
