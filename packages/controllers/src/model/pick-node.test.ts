import { describe, expect, it } from "vitest";
import { aMachine, aNode } from "../testing/builders.ts";
import { withVm } from "../testing/snapshots.ts";
import type { Node } from "./node-objects.ts";
import { matchByProviderId, pickNode } from "./pick-node.ts";

const machine = aMachine(withVm, { spec: { providerID: "mock:///vm-1" } });
const day = (date: number): string => `2026-01-0${date}T00:00:00Z`;

/** A node of the VM, created on a day of January. */
const nodeOf = (
  name: string,
  createdOn: number,
  ready: string,
  change: { readonly providerID?: string; readonly owner?: string } = {},
): Node => ({
  ...aNode({
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: day(createdOn),
      labels: change.owner === undefined ? {} : { "node.gardener.cloud/machine-name": change.owner },
    },
    status: { conditions: [{ type: "Ready", status: ready }] },
  }),
  spec: { providerID: change.providerID ?? "mock:///vm-1" },
});

const pick = (named: Node | undefined, ...byId: readonly Node[]) => {
  const { node, match, otherNodes } = pickNode(machine, { named, byId, labeled: byId }, matchByProviderId);
  return [match, node?.metadata.name, otherNodes.map(({ metadata }) => metadata.name)];
};

describe("of several nodes of one VM", () => {
  it.each<[string, Node, Node, string]>([
    ["the ready one", nodeOf("node", 1, "Unknown"), nodeOf("new", 2, "True"), "new"],
    ["the ready one, although it is older", nodeOf("node", 2, "Unknown"), nodeOf("new", 1, "True"), "new"],
    ["the younger one of two that are ready", nodeOf("node", 1, "True"), nodeOf("new", 2, "True"), "new"],
    ["the younger one, also when the machine names it", nodeOf("node", 2, "True"), nodeOf("new", 1, "True"), "node"],
    ["the named one of two of the same age", nodeOf("node", 1, "True"), nodeOf("new", 1, "True"), "node"],
    ["the named one while none is ready", nodeOf("node", 1, "Unknown"), nodeOf("new", 2, "False"), "node"],
    ["the named one that is ready", nodeOf("node", 1, "True"), nodeOf("new", 2, "Unknown"), "node"],
  ])("counts %s", (_, named, other, expected) => {
    const rest = expected === "node" ? "new" : "node";
    for (const byId of [[other], [other, named]]) expect(pick(named, ...byId)).toEqual(["same", expected, [rest]]);
  });

  it("counts the ready and younger one where the machine names none", () => {
    const nodes = [nodeOf("a", 1, "True"), nodeOf("b", 2, "True"), nodeOf("c", 3, "Unknown")];
    expect(pick(undefined, ...nodes)).toEqual(["same", "b", ["a", "c"]]);
  });

  it("has no further node that names another Machine, or whose VM the cloud names differently", () => {
    const named = nodeOf("node", 1, "Unknown");
    expect(pick(named, nodeOf("new", 2, "True", { owner: "other" }))).toEqual(["same", "node", []]);
    expect(pick(named, nodeOf("new", 2, "True", { owner: "machine" }))).toEqual(["same", "new", ["node"]]);
    expect(pick(named, nodeOf("new", 2, "True", { providerID: "mock://zone-b/vm-1" }))).toEqual(["same", "node", []]);
    expect(pick(named, nodeOf("new", 2, "True", { providerID: "MOCK:///vm-1" }))).toEqual(["same", "new", ["node"]]);
  });

  it("has one where only one is proven", () => {
    const { spec: _, ...unproven } = nodeOf("node", 1, "True");
    expect(pick(unproven, nodeOf("new", 1, "Unknown"))).toEqual(["same", "new", []]);
    expect(pick(unproven)).toEqual(["unknown", "node", []]);
  });
});
