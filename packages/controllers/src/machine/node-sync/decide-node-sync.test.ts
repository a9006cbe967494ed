import { annotationKeys, type Machine, type NodeTemplateSpec } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, type Change } from "../../testing/builders.ts";
import { itsNode, withVm, type SnapshotChange } from "../../testing/snapshots.ts";
import { aHeldNode, bare, decideNode, nodeFinalizer } from "../../testing/synced-nodes.ts";

const nodeTemplate = {
  metadata: { labels: { zone: "a" }, annotations: { owner: "team" } },
  spec: { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] },
};
const lastTemplate = "node.machine.sapcloud.io/last-applied-anno-labels-taints";
const lastCapacity = "node.machine.sapcloud.io/last-applied-virtual-capacity";
const { scaleDownDisabled, scaleDownDisabledByController } = annotationKeys;
const nameLabel = "node.gardener.cloud/machine-name";

/** As the Go implementation writes it: other order of fields, time that is null. */
const written =
  '{"metadata":{"creationTimestamp":null,"annotations":{"owner":"team"},"labels":{"zone":"a"}},"spec":{"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]}}';
const templated = (template: Change<NodeTemplateSpec> = {}): Machine =>
  aMachine(withVm, { spec: { nodeTemplate } }, { spec: { nodeTemplate: template } });

/** The node with the applied template, and with changes of others. */
const aSoundNode = (change: Parameters<typeof itsNode>[0] = {}): Node =>
  itsNode({
    ...change,
    metadata: {
      labels: { zone: "a", other: "x", [nameLabel]: "machine" },
      annotations: { owner: "team", more: "y", [lastTemplate]: written },
      finalizers: ["theirs", nodeFinalizer],
      ...change.metadata,
    },
    spec: {
      taints: [
        { key: "theirs", effect: "NoExecute" },
        { key: "gpu", value: "yes", effect: "NoSchedule" },
      ],
      ...change.spec,
    },
  });
const decide = (node: Node | undefined, machine: Machine = templated(), change: SnapshotChange = {}) =>
  decideNode(node, machine, change);
const patchOf = (...given: Parameters<typeof decide>) => {
  const [action] = decide(...given).actions;
  return action?.kind === "PatchNode" ? action.patch : undefined;
};

describe("the taint that keeps pods off until the template is there", () => {
  const pending = { key: "startup-taint.cluster-autoscaler.kubernetes.io/millwright", effect: "NoSchedule" };
  const others = [
    { key: "theirs", effect: "NoExecute" },
    { key: "gpu", value: "yes", effect: "NoSchedule" },
  ];
  const open: Node = { metadata: { name: "node", resourceVersion: "7" } };
  const registered: Node = { metadata: { name: "node", resourceVersion: "7" }, spec: { taints: [pending] } };

  it("goes with the patch that brings labels and taints", () => {
    const patch = Object(patchOf(registered));
    expect(patch.metadata.labels).toEqual({ zone: "a", [nameLabel]: "machine" });
    expect(patch.metadata.resourceVersion).toBe("7");
    expect(patch.spec).toEqual({ taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] });
  });

  it("goes from a node that registers again, with any value and effect", () => {
    for (const change of [{}, { value: "x" }, { effect: "NoExecute" }]) {
      const node = aSoundNode({ spec: { taints: [...others, { ...pending, ...change }] } });
      expect(Object(patchOf(node)).spec).toEqual({ taints: others });
    }
  });

  it("is neither set nor awaited where a template has it", () => {
    const spec = { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }, pending] };
    expect(decide(aSoundNode(), templated({ spec })).actions).toEqual([]);
    expect(Object(patchOf(registered, templated({ spec }))).spec).toEqual({ taints: [spec.taints[0]] });
  });

  it.each<[string, SnapshotChange, Node, readonly string[]]>([
    ["is missed in a pool with an autoscaler", { nodeSync: { isAutoscaled: true } }, open, ["NodeWithoutStartupTaint"]],
    ["is there in such a pool", { nodeSync: { isAutoscaled: true } }, registered, []],
    ["is not missed in another pool", {}, open, []],
  ])("%s", (_, change, node, reasons) => {
    expect(decide(node, templated(), change).because.map(({ reason }) => reason)).toEqual(reasons);
  });
});

describe("decideNodeSync", () => {
  it("puts finalizer, name, labels, annotations and taints on a new node in one patch, with a record of the template", () => {
    expect(decide({ metadata: { name: "node", resourceVersion: "7" } })).toEqual({
      actions: [
        {
          kind: "PatchNode",
          name: "node",
          patch: {
            metadata: {
              labels: { zone: "a", [nameLabel]: "machine" },
              annotations: {
                owner: "team",
                [lastTemplate]:
                  '{"metadata":{"creationTimestamp":null,"labels":{"zone":"a"},"annotations":{"owner":"team"}},"spec":{"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]}}',
              },
              finalizers: [nodeFinalizer],
              resourceVersion: "7",
            },
            spec: { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] },
          },
        },
      ],
      because: [],
    });
  });

  it("keeps the cluster-autoscaler from a node that joins during a rollout, in the same patch", () => {
    const ours = { [scaleDownDisabled]: "true", [scaleDownDisabledByController]: "true" };
    const given = { metadata: { name: "node", resourceVersion: "7" } };
    const { metadata } = Object(patchOf(given, templated(), { nodeSync: { isKeptFromScaler: true } }));
    expect(metadata).toMatchObject({ labels: { [nameLabel]: "machine" }, annotations: { owner: "team", ...ours } });
  });

  it.each<[string, Node, Change<NodeTemplateSpec>]>([
    ["a user on the node", { metadata: { name: "node", annotations: { [scaleDownDisabled]: "false" } } }, {}],
    ["the template", { metadata: { name: "node" } }, { metadata: { annotations: { [scaleDownDisabled]: "false" } } }],
  ])("does not claim the annotation of %s for a rollout", (_, given, template) => {
    const patch = patchOf(given, templated(template), { nodeSync: { isKeptFromScaler: true } });
    expect(JSON.stringify(patch)).not.toContain(scaleDownDisabledByController);
  });

  it("does nothing for a node that has everything, whatever else it has and whichever implementation wrote the record", () => {
    expect(decide(aSoundNode())).toEqual({ actions: [], because: [] });
  });

  it.each<[string, Node | undefined]>([
    ["without a node", undefined],
    ["for a node that is being deleted", itsNode({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })],
  ])("has nothing to do %s", (_, node) => {
    expect(decide(node)).toEqual({ actions: [], because: [] });
  });

  it("does not change a node that belongs to another machine, and reports it once", () => {
    const message = "Node node belongs to machine other; machine machine does not change it";
    const contested = { competingMachines: ["other"] };
    expect(decide(itsNode(), templated(), contested)).toEqual({
      actions: [],
      because: [{ type: "Warning", reason: "NodeClaimedTwice", message }],
    });
    const reported = new Map([["NodeClaimedTwice", message]]);
    expect(decide(itsNode(), templated(), { ...contested, reported })).toEqual({ actions: [], because: [] });
  });

  it("puts only name and finalizer on a node without template", () => {
    expect(patchOf({ metadata: { name: "node" } }, bare)).toEqual({
      metadata: { labels: { [nameLabel]: "machine" }, finalizers: [nodeFinalizer] },
    });
  });

  it("adds no finalizer to a node that is annotated as not managed", () => {
    const node = itsNode({ metadata: { annotations: { "node.machine.sapcloud.io/not-managed-by-mcm": "1" } } });
    expect(patchOf(node, bare)).toBeUndefined();
  });

  // Labels and annotations: cases of MCM, `machine_util_test.go` SyncMachineLabels and SyncMachineAnnotations.
  const record = (template: object) => JSON.stringify({ metadata: { creationTimestamp: null }, spec: {}, ...template });
  it.each<[string, Machine, Node, object | undefined]>([
    [
      "sets a value that the template changed",
      templated({ metadata: { labels: { zone: "b" } } }),
      aSoundNode(),
      {
        labels: { zone: "b" },
        annotations: { [lastTemplate]: expect.stringContaining('"zone":"b"') },
      },
    ],
    [
      "adds a key that the template got",
      templated({ metadata: { annotations: { cost: "7" } } }),
      aSoundNode(),
      { annotations: { cost: "7", [lastTemplate]: expect.stringContaining('"cost":"7","owner":"team"') } },
    ],
    [
      "removes a key that the template lost",
      templated({ metadata: { labels: { zone: null }, annotations: { owner: null } } }),
      aSoundNode(),
      {
        labels: { zone: null },
        annotations: {
          owner: null,
          [lastTemplate]: expect.stringContaining('{"creationTimestamp":null},"spec":{"taints"'),
        },
      },
    ],
    [
      "reverts a value that was edited by hand, and writes nothing else",
      templated(),
      aSoundNode({ metadata: { labels: { zone: "b", [nameLabel]: "machine" } } }),
      { labels: { zone: "a" } },
    ],
    [
      "restores a key that was deleted by hand",
      templated(),
      aSoundNode({ metadata: { annotations: { [lastTemplate]: written } } }),
      { annotations: { owner: "team" } },
    ],
    [
      "forgets a key that template and node lost",
      templated({ metadata: { labels: { zone: null } } }),
      aSoundNode({ metadata: { labels: { [nameLabel]: "machine" } } }),
      {
        annotations: {
          [lastTemplate]: expect.stringContaining('{"creationTimestamp":null,"annotations":{"owner":"team"}}'),
        },
      },
    ],
    [
      "removes all that it put there when the template is removed",
      bare,
      aSoundNode(),
      {
        labels: { zone: null },
        annotations: { owner: null, [lastTemplate]: '{"metadata":{"creationTimestamp":null},"spec":{}}' },
        resourceVersion: "7",
      },
    ],
    [
      "keeps the machine's name even from a template that sets another one",
      aMachine(withVm, { spec: { nodeTemplate: { metadata: { labels: { [nameLabel]: "evil" } } } } }),
      aHeldNode({
        metadata: { annotations: { [lastTemplate]: record({ metadata: { labels: { [nameLabel]: "evil" } } }) } },
      }),
      undefined,
    ],
    [
      "does not let a template write its own record",
      aMachine(withVm, {
        spec: { nodeTemplate: { metadata: { annotations: { [lastTemplate]: "x", [lastCapacity]: "y" } } } },
      }),
      aHeldNode(),
      undefined,
    ],
    [
      "is not deceived by a key that every object inherits",
      aMachine(withVm, { spec: { nodeTemplate: { metadata: { labels: { constructor: "x" } } } } }),
      aHeldNode(),
      { labels: { constructor: "x" }, annotations: { [lastTemplate]: expect.stringContaining("constructor") } },
    ],
  ])("%s", (_, machine, node, expected) => {
    const patch = patchOf(node, machine);
    expect(patch === undefined ? undefined : Reflect.get(patch, "metadata")).toEqual(expected);
  });

  // Taints: cases of MCM, `machine_util_test.go` SyncMachineTaints. The record travels with the change that it describes.
  const gpu = { key: "gpu", value: "yes", effect: "NoSchedule" };
  const taintsAfter = (node: Node, taints: readonly object[]) => {
    const machine = aMachine(withVm, { spec: { nodeTemplate: { ...nodeTemplate, spec: { taints: taints as [] } } } });
    const patch = patchOf(node, machine);
    return patch === undefined ? undefined : { ...patch };
  };

  it("removes a taint that the template lost, in the request that updates the record, and for this version of the node only", () => {
    expect(taintsAfter(aSoundNode(), [])).toEqual({
      metadata: {
        annotations: { [lastTemplate]: expect.not.stringContaining("gpu") },
        resourceVersion: "7",
      },
      spec: { taints: [{ key: "theirs", effect: "NoExecute" }] },
    });
  });

  it.each<[string, readonly object[], readonly object[], readonly object[] | undefined]>([
    [
      "adds two taints that differ in the effect only",
      [],
      [gpu, { ...gpu, effect: "NoExecute" }],
      [gpu, { ...gpu, effect: "NoExecute" }],
    ],
    [
      "replaces the value of its taint and keeps those of others",
      [
        { key: "gpu", effect: "NoSchedule" },
        { key: "gpu", effect: "NoExecute" },
      ],
      [gpu],
      [{ key: "gpu", effect: "NoExecute" }, gpu],
    ],
    [
      "takes an empty value and none for the same",
      [{ key: "a", value: "", effect: "NoSchedule" }],
      [{ key: "a", effect: "NoSchedule" }],
      undefined,
    ],
    ["takes the last of two duplicate taints", [], [{ ...gpu, value: "no" }, gpu], [gpu]],
    ["leaves the time of a taint alone", [{ ...gpu, timeAdded: "2026-01-01T00:00:00Z" }], [gpu], undefined],
  ])("%s", (_, live, desired, expected) => {
    const patch = taintsAfter(aSoundNode({ spec: { taints: live as [] } }), desired);
    const spec: unknown = patch === undefined ? undefined : Reflect.get(patch, "spec");
    expect(spec).toEqual(expected === undefined ? undefined : { taints: expected });
  });

  it.each([
    "",
    "{",
    "[]",
    "null",
    '{"metadata":{"labels":{"a":1}}}',
    '{"metadata":{"labels":{"__proto__":{"a":"b"}}}}',
  ])("reports once that the record %j cannot be read, removes nothing, and resets it", (text) => {
    const node = aSoundNode({ metadata: { annotations: { owner: "team", [lastTemplate]: text } } });
    const { actions, because } = decide(node);
    const isEmptyObject = text.includes("__proto__");
    expect(because.map(({ reason }) => reason)).toEqual(isEmptyObject ? [] : ["InvalidLastAppliedAnnotation"]);
    const patch = { metadata: { annotations: { [lastTemplate]: expect.stringContaining("gpu") } } };
    expect(actions).toEqual([{ kind: "PatchNode", name: "node", patch }]);
  });

  it("keeps the name on the node, and what was applied, when the template is one that no node can carry", () => {
    const problems = [
      { path: "spec.nodeTemplate.spec.taints[0].effect", message: "is wrong", kind: "invalid" as const },
    ];
    const machine = templated({ metadata: { labels: { zone: "not valid" } } });
    expect(decide(aSoundNode(), machine, { problems }).actions).toEqual([]);
    expect(patchOf(aSoundNode({ metadata: { labels: { zone: "a" } } }), machine, { problems })).toEqual({
      metadata: { labels: { [nameLabel]: "machine" } },
    });
  });
});
