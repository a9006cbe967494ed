import { describe, expect, it } from "vitest";
import { aMachine, inPhase } from "../../testing/builders.ts";
import { aSnapshot, testNow } from "../../testing/snapshots.ts";
import { runSteps, type Step } from "./run-steps.ts";
import { statusOf, withPhase } from "../../model/status-change.ts";

const snapshot = aSnapshot({ machine: aMachine(inPhase("Running")) });

const acts =
  (name: string, requeueAfterMs?: number): Step =>
  () => ({
    actions: [{ kind: "EvictPod", namespace: "default", name, uid: name }],
    because: [{ type: "Normal", reason: name, message: "" }],
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  });

const remembers =
  (lastKnownState: string): Step =>
  ({ machine }) => ({
    actions: [],
    status: { ...statusOf(machine), lastKnownState: `${machine.status?.lastKnownState ?? ""}${lastKnownState}` },
    because: [],
  });

describe("runSteps", () => {
  it("merges actions and events of the steps, in order, and requeues for the earliest of their deadlines", () => {
    expect(runSteps(snapshot, testNow, [acts("a"), acts("b", 7), acts("c", 5)])).toEqual({
      actions: ["a", "b", "c"].map((name) => ({ kind: "EvictPod", namespace: "default", name, uid: name })),
      because: ["a", "b", "c"].map((reason) => ({ type: "Normal", reason, message: "" })),
      requeueAfterMs: 5,
    });
  });

  it("shows each step the status as the steps before it leave it", () => {
    expect(runSteps(snapshot, testNow, [remembers("a"), remembers("b")]).status).toMatchObject({
      lastKnownState: "ab",
    });
  });

  it("ends with a step that changes the phase", () => {
    const fails: Step = ({ machine }, now) => ({
      actions: [],
      status: withPhase(statusOf(machine), "Failed", now),
      because: [],
    });
    const decision = runSteps(snapshot, testNow, [acts("a"), fails, acts("b")]);
    expect(decision.actions).toHaveLength(1);
    expect(decision.status?.currentStatus?.phase).toBe("Failed");
  });

  it.each(["PatchNode", "PatchNodeStatus"] as const)("ends with a step that does a %s", (kind) => {
    const writes: Step = () => ({ actions: [{ kind, name: "node", patch: {} }], because: [], requeueAfterMs: 3 });
    const decision = runSteps(snapshot, testNow, [acts("a"), writes, acts("b")]);
    expect(decision.actions.map((action) => action.kind)).toEqual(["EvictPod", kind]);
    expect(decision.requeueAfterMs).toBe(3);
  });

  it("has no status when no step changes it", () => {
    expect(runSteps(snapshot, testNow, [acts("a")])).not.toHaveProperty("status");
  });
});
