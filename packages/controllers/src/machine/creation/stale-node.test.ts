import { expect, test } from "vitest";
import { aMachine, aNode, createdAt, labelled } from "../../testing/builders.ts";
import { isStaleNode } from "./stale-node.ts";

const machine = aMachine(createdAt("2026-01-01T00:00:00Z"));
const old = "2025-12-01T00:00:00Z";
const young = "2026-01-01T00:00:05Z";
const aNodeOf = (metadata: object, providerID?: string) =>
  aNode({ metadata: { name: "node", creationTimestamp: old, ...metadata }, spec: providerID ? { providerID } : {} });

test.each([
  ["an old node without any word of its VM is another's", aNodeOf({}), true],
  ["a node of another VM is another's, also a young one", aNodeOf({ creationTimestamp: young }, "vm-9"), true],
  ["a node of this VM is the machine's, also an old one", aNodeOf({}, "vm-1"), false],
  ["a node with the machine's name is the machine's", aNodeOf({ name: "machine" }, "vm-9"), false],
  ["a young node has joined before the driver answered", aNodeOf({ creationTimestamp: young }), false],
  [
    "a node labelled for the machine is the machine's",
    aNodeOf(labelled({ "node.gardener.cloud/machine-name": "machine" }).metadata),
    false,
  ],
  [
    "a node labelled for another machine is that one's",
    aNodeOf(labelled({ "node.gardener.cloud/machine-name": "m2" }).metadata),
    true,
  ],
  ["a node without a date counts as old", aNodeOf({ creationTimestamp: undefined }), true],
])("%s", (_, node, isStale) => {
  expect(isStaleNode(node, machine, "vm-1")).toBe(isStale);
});
