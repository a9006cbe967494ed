import { describe, expect, it } from "vitest";
import type { Node } from "../../cluster/node-objects.ts";
import { aMachine } from "../../testing/builders.ts";
import { aSnapshot, itsNode, withVm } from "../../testing/snapshots.ts";
import { decideNodeSync } from "./decide-node-sync.ts";

const nodeTemplate = {
  metadata: { labels: { zone: "a" }, annotations: { owner: "team" } },
  spec: { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] },
};
const templated = aMachine(withVm, { spec: { nodeTemplate } });
const patchOf = (node: Node, machine = templated) => {
  const [action] = decideNodeSync(aSnapshot({ machine, node })).actions;
  return action?.kind === "PatchNode" ? action.patch : undefined;
};
/** The node as the template wants it, with things of others on it. */
const inOrder = itsNode({
  metadata: {
    labels: { zone: "a", other: "x", "node.gardener.cloud/machine-name": "machine" },
    annotations: { owner: "team", more: "y" },
  },
  spec: {
    taints: [
      { key: "theirs", effect: "NoExecute" },
      { key: "gpu", value: "yes", effect: "NoSchedule" },
    ],
  },
});

describe("decideNodeSync", () => {
  it("puts name, labels, annotations and taints on a new node in one patch", () => {
    expect(patchOf({ metadata: { name: "node", resourceVersion: "7" } })).toEqual({
      metadata: {
        labels: { zone: "a", "node.gardener.cloud/machine-name": "machine" },
        annotations: { owner: "team" },
        resourceVersion: "7",
      },
      spec: { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] },
    });
  });

  it("has nothing to do for a node that carries everything, whatever else it carries", () => {
    expect(patchOf(inOrder)).toBeUndefined();
  });

  it("has nothing to do without a node", () => {
    expect(decideNodeSync(aSnapshot({ machine: templated }))).toEqual({ actions: [], because: [] });
  });

  it("puts only the machine's name on a node without template", () => {
    expect(patchOf({ metadata: { name: "node" } }, aMachine(withVm))).toEqual({
      metadata: { labels: { "node.gardener.cloud/machine-name": "machine" } },
    });
  });

  it("reverts a label that was changed by hand, and writes nothing else", () => {
    const node = { ...inOrder, metadata: { ...inOrder.metadata, labels: { ...inOrder.metadata.labels, zone: "b" } } };
    expect(patchOf(node)).toEqual({ metadata: { labels: { zone: "a" } } });
  });

  it("keeps the machine's name even from a template that sets another one", () => {
    const machine = aMachine(withVm, {
      spec: { nodeTemplate: { metadata: { labels: { "node.gardener.cloud/machine-name": "evil" } } } },
    });
    expect(patchOf(itsNode(), machine)).toBeUndefined();
  });

  it("replaces the value of its taint and keeps those of others, for this version of the node only", () => {
    const node = {
      ...inOrder,
      spec: {
        taints: [
          { key: "gpu", effect: "NoSchedule" },
          { key: "gpu", effect: "NoExecute" },
        ],
      },
    };
    expect(patchOf(node)).toEqual({
      metadata: { resourceVersion: "7" },
      spec: {
        taints: [
          { key: "gpu", effect: "NoExecute" },
          { key: "gpu", value: "yes", effect: "NoSchedule" },
        ],
      },
    });
  });

  it("takes an empty value and none for the same", () => {
    const machine = aMachine(withVm, {
      spec: { nodeTemplate: { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } } },
    });
    const node = itsNode({ spec: { taints: [{ key: "a", value: "", effect: "NoSchedule" }] } });
    expect(patchOf(node, machine)).toBeUndefined();
  });

  it("is not deceived by a key that every object inherits", () => {
    const machine = aMachine(withVm, { spec: { nodeTemplate: { metadata: { labels: { constructor: "x" } } } } });
    expect(patchOf(itsNode(), machine)).toEqual({ metadata: { labels: { constructor: "x" } } });
  });
});
