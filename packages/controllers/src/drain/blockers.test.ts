import { describe, expect, it } from "vitest";
import { type Blocker, describeBlockers } from "./blockers.ts";

const startedAt = new Date("2026-01-01T00:00:00.500Z");
const leaving = (pod: string): Blocker => ({ kind: "leaving", pod });
const linesOf = (...blockers: readonly Blocker[]) => (describeBlockers(blockers, startedAt) ?? "").split("\n");

describe("describeBlockers", () => {
  it("is empty without blockers", () => {
    expect(describeBlockers([], startedAt)).toBeUndefined();
  });

  it("starts with the time of the drain, and groups pods with the same cause, each once", () => {
    expect(linesOf(leaving("default/b"), leaving("default/a"), leaving("default/a"))).toEqual([
      "Drain not completed yet (started at 2026-01-01T00:00:00Z):",
      "* Pods default/a, default/b: deletionTimestamp set, but still not removed from the Node",
    ]);
  });

  it("names three pods and counts the rest", () => {
    expect(linesOf(...["a", "b", "c", "d", "e"].map(leaving))[1]).toMatch(/^\* Pods a, b, c and 2 more: /);
  });

  it("lists causes first that a user has to fix, and has a phrase for each", () => {
    const pod = "default/a";
    const lines = linesOf(
      { kind: "order", pod },
      { kind: "turn", pod },
      leaving(pod),
      { kind: "reattaching", pod, volumes: ["pv-1"], isOverdue: false },
      { kind: "detaching", pod, volumes: ["pv-1", "pv-2"], isOverdue: true },
      { kind: "detaching", pod, volumes: ["pv-3"], isOverdue: false },
      { kind: "completion", pod },
      { kind: "rejected", pod, message: "no answer" },
      { kind: "overdue", pod, finalizers: [] },
      { kind: "returning", pod },
      { kind: "budget", pod, cause: "misconfigured", message: "PodDisruptionBudget default/web can never be met" },
    );
    expect(lines.slice(1).map((line) => line.replace("* Pod default/a: ", ""))).toEqual([
      "cannot evict pod as it would violate the pod's disruption budget. PodDisruptionBudget default/web can never be met",
      "created on the Node after the drain began although it does not tolerate the cordon; it is evicted every 30s",
      "deletionTimestamp set, but still not removed from the Node although its grace period is over",
      "failed to evict Pod, no answer",
      "waiting for completion",
      "no longer waiting for volumes pv-1, pv-2 to be detached",
      "waiting for volumes pv-3 to be detached",
      "waiting for volumes pv-1 to be attached elsewhere",
      "deletionTimestamp set, but still not removed from the Node",
      "waiting for another pod with volumes to be replaced",
      "waiting for pods of a lower order to terminate",
    ]);
  });

  it("keeps to one line for each cause, however many the API server has", () => {
    const message = 'admission webhook "no" denied the request:\n* Pod default/b: waiting for completion\n';
    expect(linesOf({ kind: "rejected", pod: "a", message }).slice(1)).toEqual([
      '* Pod a: failed to evict Pod, admission webhook "no" denied the request: * Pod default/b: waiting for completion',
    ]);
  });

  it("names the finalizers that hold a pod", () => {
    expect(linesOf({ kind: "overdue", pod: "a", finalizers: ["x/y", "z"] })[1]).toMatch(/finalizers x\/y, z$/);
  });

  it("does not fill the status with more causes than a person reads", () => {
    const rejected = Array.from({ length: 16 }, (_, index): Blocker => ({
      kind: "rejected",
      pod: "a",
      message: `${index}`,
    }));
    expect(linesOf(...rejected)).toHaveLength(14);
    expect(linesOf(...rejected).at(-1)).toBe("* and 4 more");
  });
});
