import { expect, it, test } from "vitest";
import { aMachine, aNode, createdAt, inPhase } from "../../testing/builders.ts";
import { aSnapshot, lastly, later, machineAfter, testNow, withVm } from "../../testing/snapshots.ts";
import { creating } from "../../testing/node-health.ts";
import { decideHealth } from "./decide-health.ts";

const young = aMachine(withVm, inPhase("Pending"), creating, createdAt(testNow.toISOString()));
const ready = (lastHeartbeatTime: string) => ({
  conditions: [{ type: "Ready", status: "True", lastHeartbeatTime, lastTransitionTime: "2025-12-01T00:00:00Z" }],
});
const leftover = aNode({
  metadata: { creationTimestamp: "2025-12-01T00:00:00Z" },
  status: ready("2025-12-31T00:00:00Z"),
});
const decide = (change: Parameters<typeof aSnapshot>[0], now = testNow) => decideHealth(aSnapshot(change), now);
const message = "Node node is older than machine machine. Waiting for the kubelet of the new VM to report";

it("a Ready node from before the machine does not make it Running; it is looked at again", () => {
  const decision = decide({ machine: young, node: leftover });
  expect(decision).toMatchObject({
    actions: [],
    status: { currentStatus: { phase: "Pending" }, lastOperation: { description: message, state: "Processing" } },
    requeueAfterMs: 30_000,
  });
  expect(decision.status).not.toHaveProperty("conditions");
  const machine = machineAfter(aSnapshot({ machine: young, node: leftover }), decision);
  expect(decide({ machine, node: leftover }, later(30_000)).status).toEqual(machine.status);
});

it.each(["", "Unknown"] as const)("is looked at again in phase %j, too, which stays", (phase) => {
  const machine = aMachine(withVm, phase === "" ? {} : inPhase(phase), creating, createdAt(testNow.toISOString()));
  const decision = decide({ machine, node: leftover });
  expect(decision.actions).toEqual([]);
  expect(decision.requeueAfterMs).toBeLessThanOrEqual(30_000);
  expect(decision.status?.currentStatus?.phase).toBe(machine.status?.currentStatus?.phase);
});

it("becomes Running once the kubelet reports", () => {
  const node = { ...leftover, status: ready(later(180_000).toISOString()) };
  expect(decide({ machine: young, node }, later(181_000)).status?.currentStatus?.phase).toBe("Running");
});

it("is Failed when no kubelet reports within the creation timeout", () => {
  const decision = decide({ machine: young, node: leftover }, later(20 * 60_000 + 1));
  expect(decision.status?.currentStatus?.phase).toBe("Failed");
});

it("is not deleted when the node from before is", () => {
  const node = { ...leftover, metadata: { ...leftover.metadata, deletionTimestamp: testNow.toISOString() } };
  expect(decide({ machine: young, node }).actions).toEqual([]);
});

test.each([
  ["whose ids prove that the node is its own", { machine: young, nodeMatch: "same" as const }],
  ["that joined before", { machine: aMachine(young, inPhase("Unknown"), lastly("HealthCheck", "Processing", "x")) }],
])("the age of the node does not matter to a machine %s", (_, change) => {
  expect(decide({ node: leftover, ...change }).status?.currentStatus?.phase).toBe("Running");
});
