import type { Machine, NodeTemplateSpec } from "@millwright/core";
import { describe, expect, it } from "vitest";
import type { Node } from "../../cluster/node-objects.ts";
import { aMachine, aMachineClass, type Change } from "../../testing/builders.ts";
import { aSnapshot, itsNode, unusable, withVm } from "../../testing/snapshots.ts";
import type { MachineSnapshot } from "../snapshot.ts";
import { decideNodeSync } from "./decide-node-sync.ts";

const nodeTemplate = {
  metadata: { labels: { zone: "a" }, annotations: { owner: "team" } },
  spec: { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] },
};
const lastTemplate = "node.machine.sapcloud.io/last-applied-anno-labels-taints";
const lastCapacity = "node.machine.sapcloud.io/last-applied-virtual-capacity";
const finalizer = "node.machine.sapcloud.io/machine-controller";
const nameLabel = "node.gardener.cloud/machine-name";

/** As the Go implementation writes it: other order of fields, time that is null. */
const written =
  '{"metadata":{"creationTimestamp":null,"annotations":{"owner":"team"},"labels":{"zone":"a"}},"spec":{"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]}}';
const templated = (template: Change<NodeTemplateSpec> = {}): Machine =>
  aMachine(withVm, { spec: { nodeTemplate } }, { spec: { nodeTemplate: template } });
const bare = aMachine(withVm);

/** The node as the template wants it, with things of others on it. */
const aSoundNode = (change: Parameters<typeof itsNode>[0] = {}): Node =>
  itsNode({
    ...change,
    metadata: {
      labels: { zone: "a", other: "x", [nameLabel]: "machine" },
      annotations: { owner: "team", more: "y", [lastTemplate]: written },
      finalizers: ["theirs", finalizer],
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
/** A node that only has what is no template's business. */
const aHeldNode = (change: Parameters<typeof itsNode>[0] = {}): Node =>
  itsNode({ ...change, metadata: { finalizers: [finalizer], ...change.metadata } });

const decide = (node: Node | undefined, machine: Machine = templated(), change: Partial<MachineSnapshot> = {}) =>
  decideNodeSync(aSnapshot({ machine, node, ...change }));
const patchOf = (...given: Parameters<typeof decide>) => {
  const [action] = decide(...given).actions;
  return action?.kind === "PatchNode" ? action.patch : undefined;
};

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
              finalizers: [finalizer],
              resourceVersion: "7",
            },
            spec: { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] },
          },
        },
      ],
      because: [],
    });
  });

  it("has nothing to do for a node that carries everything, whatever else it carries and whoever wrote the record", () => {
    expect(decide(aSoundNode())).toEqual({ actions: [], because: [] });
  });

  it.each<[string, Node | undefined]>([
    ["without a node", undefined],
    ["for a node that is being deleted", itsNode({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })],
  ])("has nothing to do %s", (_, node) => {
    expect(decide(node)).toEqual({ actions: [], because: [] });
  });

  it("leaves a node alone to which another machine has a better claim, and says so once", () => {
    const message = "Node node is that of machine other; machine machine leaves it alone";
    const contested = { betterClaims: ["other"] };
    expect(decide(itsNode(), templated(), contested)).toEqual({
      actions: [],
      because: [{ type: "Warning", reason: "NodeClaimedTwice", message }],
    });
    const told = new Map([["NodeClaimedTwice", message]]);
    expect(decide(itsNode(), templated(), { ...contested, told })).toEqual({ actions: [], because: [] });
  });

  it("puts only name and finalizer on a node without template", () => {
    expect(patchOf({ metadata: { name: "node" } }, bare)).toEqual({
      metadata: { labels: { [nameLabel]: "machine" }, finalizers: [finalizer] },
    });
  });

  it("does not hold a node that is annotated as nobody's", () => {
    const node = itsNode({ metadata: { annotations: { "node.machine.sapcloud.io/not-managed-by-mcm": "1" } } });
    expect(patchOf(node, bare)).toBeUndefined();
  });

  // machine-controller.md, 10.7: labels and annotations.
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
      "removes all that it put there when the template is gone",
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

  // machine-controller.md, 10.7: taints. F20: the record travels with the change that it describes.
  const gpu = { key: "gpu", value: "yes", effect: "NoSchedule" };
  const taintsAfter = (node: Node, taints: readonly object[]) => {
    const machine = aMachine(withVm, { spec: { nodeTemplate: { ...nodeTemplate, spec: { taints: taints as [] } } } });
    const patch = patchOf(node, machine);
    return patch === undefined ? undefined : { ...patch };
  };

  it("removes a taint that the template lost, in the request that forgets it, and for this version of the node only", () => {
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
    ["takes the last of two that name the same taint", [], [{ ...gpu, value: "no" }, gpu], [gpu]],
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
  ])("says so once when the record %j cannot be read, removes nothing for its sake, and writes it anew", (text) => {
    const node = aSoundNode({ metadata: { annotations: { owner: "team", [lastTemplate]: text } } });
    const { actions, because } = decide(node);
    const isEmptyObject = text.includes("__proto__");
    expect(because.map(({ reason }) => reason)).toEqual(isEmptyObject ? [] : ["LastAppliedUnreadable"]);
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

describe("the virtual capacity of a node", () => {
  const withCapacity = (virtualCapacity: Readonly<Record<string, string | number>>): Partial<MachineSnapshot> => ({
    classView: {
      state: "usable",
      machineClass: aMachineClass({
        nodeTemplate: {
          capacity: { cpu: "1", gpu: "0", memory: "1Gi" },
          instanceType: "small",
          region: "r",
          zone: "z",
          virtualCapacity,
        },
      }),
    },
  });
  const aNodeWith = (capacity: Readonly<Record<string, string>>, record?: string): Node =>
    aHeldNode({
      metadata: { annotations: record === undefined ? {} : { [lastCapacity]: record } },
      status: { capacity: { cpu: "4", memory: "16Gi", ...capacity } },
    });
  const changesOf = (node: Node, change: Partial<MachineSnapshot>) => {
    const { actions } = decide(node, bare, change);
    return actions.map((action) =>
      action.kind === "PatchNode" || action.kind === "PatchNodeStatus" ? action.patch : action,
    );
  };

  it.each<[string, Node, Readonly<Record<string, string | number>>, readonly object[]]>([
    ["is left alone when it is right", aNodeWith({ "a.com/x": "5" }, '{"a.com/x":"5"}'), { "a.com/x": "5" }, []],
    [
      "is compared by amount, not by text",
      aNodeWith({ "a.com/x": "1073741824" }, '{"a.com/x":"1Gi"}'),
      { "a.com/x": "1024Mi" },
      [],
    ],
    [
      "is set on a new node, after a record of it",
      aNodeWith({}),
      { "b.com/y": 2, "a.com/x": "5" },
      [
        { metadata: { annotations: { [lastCapacity]: '{"a.com/x":"5","b.com/y":"2"}' } } },
        { capacity: { "b.com/y": "2", "a.com/x": "5" } },
      ],
    ],
    [
      "follows the class",
      aNodeWith({ "a.com/x": "5" }, '{"a.com/x":"5"}'),
      { "a.com/x": "6" },
      [{ metadata: { annotations: { [lastCapacity]: '{"a.com/x":"6"}' } } }, { capacity: { "a.com/x": "6" } }],
    ],
    [
      "is reverted when somebody edits it",
      aNodeWith({ "a.com/x": "9" }, '{"a.com/x":"5"}'),
      { "a.com/x": "5" },
      [{ capacity: { "a.com/x": "5" } }],
    ],
    [
      "is removed with the class's, and stays on record until it is gone",
      aNodeWith({ "a.com/x": "5", "b.com/y": "1" }, '{"a.com/x":"5","b.com/y":"1"}'),
      { "a.com/x": "5" },
      [{ capacity: { "b.com/y": null } }],
    ],
    [
      "is forgotten when it is gone",
      aNodeWith({ "a.com/x": "5" }, '{"a.com/x":"5","b.com/y":"1"}'),
      { "a.com/x": "5" },
      [{ metadata: { annotations: { [lastCapacity]: '{"a.com/x":"5"}' } } }],
    ],
    [
      "leaves no record of nothing",
      aNodeWith({}, '{"a.com/x":"5"}'),
      {},
      [{ metadata: { annotations: { [lastCapacity]: null } } }],
    ],
    [
      "never touches what the kubelet reports",
      aNodeWith({}),
      { cpu: "99", "kubernetes.io/x": "1", "x.kubernetes.io/y": "1", "/z": "1", "a/b/c": "1" },
      [],
    ],
    [
      "does not remove what the kubelet reports, whatever the record says",
      aNodeWith({}, '{"cpu":"4"}'),
      {},
      [{ metadata: { annotations: { [lastCapacity]: null } } }],
    ],
    ["is not the business of others", aNodeWith({ "theirs.com/x": "1" }), {}, []],
  ])("%s", (_, node, virtualCapacity, expected) => {
    expect(changesOf(node, withCapacity(virtualCapacity))).toEqual(expected);
  });

  it.each(["{", "[]", '{"a.com/x":{}}'])(
    "is recorded anew, with one warning, when the record %j cannot be read",
    (text) => {
      const { actions, because } = decide(aNodeWith({ "a.com/x": "5" }, text), bare, withCapacity({ "a.com/x": "5" }));
      expect(actions).toMatchObject([{ patch: { metadata: { annotations: { [lastCapacity]: '{"a.com/x":"5"}' } } } }]);
      expect(because).toEqual([
        {
          type: "Warning",
          reason: "LastAppliedUnreadable",
          message:
            "Annotation node.machine.sapcloud.io/last-applied-virtual-capacity of Node node cannot be read; it is written anew, and nothing that was applied before is removed",
        },
      ]);
    },
  );

  it("reads numbers that somebody else recorded", () => {
    expect(changesOf(aNodeWith({ "a.com/x": "5" }, '{"a.com/x":5}'), withCapacity({ "a.com/x": "5" }))).toEqual([]);
  });

  it("stays as it is while the class cannot be read", () => {
    const node = aNodeWith({ "a.com/x": "5" }, '{"a.com/x":"5"}');
    expect(changesOf(node, { classView: unusable("InvalidMachineClass", "broken") })).toEqual([]);
  });

  it("is none for a class without node template", () => {
    expect(changesOf(itsNode({ metadata: { finalizers: [finalizer] }, status: {} }), {})).toEqual([]);
  });
});
