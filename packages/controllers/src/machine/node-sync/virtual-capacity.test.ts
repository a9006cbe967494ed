import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachineClass } from "../../testing/builders.ts";
import { unusable, type SnapshotChange } from "../../testing/snapshots.ts";
import { aHeldNode, bare, decideNode } from "../../testing/synced-nodes.ts";

const lastCapacity = "node.machine.sapcloud.io/last-applied-virtual-capacity";

describe("the virtual capacity of a node", () => {
  const withCapacity = (virtualCapacity: Readonly<Record<string, string | number>>): SnapshotChange => ({
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
  const changesOf = (node: Node, change: SnapshotChange) => {
    const { actions } = decideNode(node, bare, change);
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
      "is reverted when another client changes it",
      aNodeWith({ "a.com/x": "9" }, '{"a.com/x":"5"}'),
      { "a.com/x": "5" },
      [{ capacity: { "a.com/x": "5" } }],
    ],
    [
      "is removed with the class's, and stays on record until it is removed",
      aNodeWith({ "a.com/x": "5", "b.com/y": "1" }, '{"a.com/x":"5","b.com/y":"1"}'),
      { "a.com/x": "5" },
      [{ capacity: { "b.com/y": null } }],
    ],
    [
      "is removed from the record when it is removed",
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
      "does not remove what the kubelet reports, whatever the record contains",
      aNodeWith({}, '{"cpu":"4"}'),
      {},
      [{ metadata: { annotations: { [lastCapacity]: null } } }],
    ],
    ["is not the business of others", aNodeWith({ "theirs.com/x": "1" }), {}, []],
  ])("%s", (_, node, virtualCapacity, expected) => {
    expect(changesOf(node, withCapacity(virtualCapacity))).toEqual(expected);
  });

  it.each(["{", "[]", '{"a.com/x":{}}'])(
    "is recorded again, with one warning, when the record %j cannot be read",
    (text) => {
      const { actions, because } = decideNode(
        aNodeWith({ "a.com/x": "5" }, text),
        bare,
        withCapacity({ "a.com/x": "5" }),
      );
      expect(actions).toMatchObject([{ patch: { metadata: { annotations: { [lastCapacity]: '{"a.com/x":"5"}' } } } }]);
      expect(because).toEqual([
        {
          type: "Warning",
          reason: "InvalidLastAppliedAnnotation",
          message:
            "Annotation node.machine.sapcloud.io/last-applied-virtual-capacity of Node node cannot be read and will be reset; fields applied before are kept",
        },
      ]);
    },
  );

  it("reads numbers that another client recorded", () => {
    expect(changesOf(aNodeWith({ "a.com/x": "5" }, '{"a.com/x":5}'), withCapacity({ "a.com/x": "5" }))).toEqual([]);
  });

  it("is kept while the class cannot be read", () => {
    const node = aNodeWith({ "a.com/x": "5" }, '{"a.com/x":"5"}');
    expect(changesOf(node, { classView: unusable("InvalidMachineClass", "broken") })).toEqual([]);
  });

  it("is none for a class without node template", () => {
    expect(changesOf(aHeldNode({ status: {} }), {})).toEqual([]);
  });
});
