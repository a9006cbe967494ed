import type { NodeMatch } from "@millwright/core";
import { expect, test } from "vitest";
import { aMachine, aNode, createdAt, labeled } from "../testing/builders.ts";
import { isStaleNode } from "./stale-node.ts";

const machine = aMachine(createdAt("2026-01-01T00:00:00Z"));
const old = "2025-12-01T00:00:00Z";
const young = "2026-01-01T00:00:05Z";
const aNodeOf = (metadata: object) => aNode({ metadata: { name: "node", creationTimestamp: old, ...metadata } });

test.each<[string, ReturnType<typeof aNode>, NodeMatch, boolean]>([
  ["an old node without ids is stale", aNodeOf({}), "unknown", true],
  ["a node of another VM is stale, even a young one", aNodeOf({ creationTimestamp: young }), "different", true],
  ["a node of this VM is the machine's, even an old one", aNodeOf({}), "same", false],
  ["a node with the machine's name is the machine's", aNodeOf({ name: "machine" }), "different", false],
  ["a young node joined before the driver replied", aNodeOf({ creationTimestamp: young }), "unknown", false],
  [
    "a node that is older by no more than the clocks may differ is the machine's",
    aNodeOf({ creationTimestamp: "2025-12-31T23:59:10Z" }),
    "unknown",
    false,
  ],
  [
    "a node labeled for the machine is the machine's",
    aNodeOf(labeled({ "node.gardener.cloud/machine-name": "machine" }).metadata),
    "unknown",
    false,
  ],
  [
    "a node labeled for another machine is that one's",
    aNodeOf(labeled({ "node.gardener.cloud/machine-name": "m2" }).metadata),
    "unknown",
    true,
  ],
  ["a node without a date counts as old", aNodeOf({ creationTimestamp: undefined }), "unknown", true],
])("%s", (_, node, match, isStale) => {
  expect(isStaleNode({ node, match }, machine)).toBe(isStale);
});
