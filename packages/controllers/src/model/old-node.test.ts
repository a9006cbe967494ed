import { expect, test } from "vitest";
import { aMachine, aNode, createdAt } from "../testing/builders.ts";
import { isLeftoverNode } from "./old-node.ts";

const machine = aMachine(createdAt("2026-01-01T12:00:00Z"));
const node = (creationTimestamp: string, report: object = {}) =>
  aNode({
    metadata: { creationTimestamp },
    status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z", ...report }] },
  });
const heartbeat = (time: string) => ({ lastHeartbeatTime: `2026-01-01T${time}Z` });
const change = (time: string) => ({ lastTransitionTime: `2026-01-01T${time}Z` });
const old = "2025-12-01T00:00:00Z";

test.each<[string, ReturnType<typeof node>, number, boolean]>([
  ["is not one that is younger than the machine", node("2026-01-01T12:00:01Z"), 0, false],
  ["is not one that was created in the same second", node("2026-01-01T12:00:00Z"), 0, false],
  ["is an old one that never reported again", node(old), 0, true],
  ["is an old one that reported last before the machine was created", node(old, heartbeat("11:59:59")), 0, true],
  ["is an old one whose last report a wrong clock may have dated too late", node(old, heartbeat("12:01:59")), 0, true],
  ["is not an old one whose kubelet reports", node(old, heartbeat("12:02:01")), 0, false],
  ["is not an old one that became Ready", node(old, change("12:02:01")), 0, false],
  ["is one that is a second older and did not report", node("2026-01-01T11:59:59Z", heartbeat("12:00:00")), 0, true],
  ["is not one that is a minute older and reports", node("2026-01-01T11:59:00Z", heartbeat("12:00:01")), 0, false],
  ["is not one that is older by the measured skew of the API servers", node("2026-01-01T11:00:00Z"), -3_600_000, false],
  [
    "is one that is younger only by the measured skew",
    node("2026-01-01T12:59:59Z", heartbeat("12:59:59")),
    3_600_000,
    true,
  ],
])("a leftover node %s", (_, each, clockAheadMs, expected) => {
  expect(isLeftoverNode(each, machine, clockAheadMs)).toBe(expected);
});
