import { describe, expect, it } from "vitest";
import type { Budget, Pod } from "../model/node-objects.ts";
import { aBudget, aPod } from "../testing/drain-objects.ts";
import { judgeBudgets } from "./budget-verdict.ts";

const none = { disruptionsAllowed: 0 };
const busy = aBudget({ status: { ...none, currentHealthy: 1, desiredHealthy: 2, expectedPods: 3 } });
const unready: Pod["status"] = { phase: "Running", conditions: [{ type: "Ready", status: "False" }] };

const textOf = (pod: Pod, ...budgets: readonly Budget[]): string => {
  const verdict = judgeBudgets(pod, budgets);
  return verdict.state === "free" ? "free" : `${verdict.state}: ${verdict.message}`;
};

describe("judgeBudgets", () => {
  it.each([
    ["no budget", aPod(), []],
    ["a budget with room", aPod(), [aBudget()]],
    ["a budget of another namespace", aPod(), [aBudget({ metadata: { namespace: "other" }, status: none })]],
    [
      "a budget for other pods",
      aPod(),
      [aBudget({ spec: { selector: { matchLabels: { app: "db" } } }, status: none })],
    ],
    [
      "a budget whose status is of an older generation",
      aPod(),
      [aBudget({ metadata: { generation: 2 }, status: none })],
    ],
    [
      "a budget for a pod that never started",
      aPod("p", { status: { phase: "Pending" } }),
      [busy, aBudget({ status: none })],
    ],
    [
      "a budget that allows the eviction of unready pods",
      aPod("p", { status: unready }),
      [aBudget({ spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" }, status: { ...none, currentHealthy: 0 } })],
    ],
    ["a met budget for an unready pod", aPod("p", { status: unready }), [aBudget({ status: none })]],
  ])("allows the eviction of a pod with %s", (_, pod, budgets) => {
    expect(textOf(pod, ...budgets)).toBe("free");
  });

  it("waits while pods are missing, and reports how many", () => {
    expect(textOf(aPod(), busy)).toBe("waiting: PodDisruptionBudget default/web needs 2 more healthy pods (1 of 2)");
    const almost = aBudget({ status: { ...none, currentHealthy: 2, desiredHealthy: 2, expectedPods: 3 } });
    expect(textOf(aPod(), almost)).toBe("waiting: PodDisruptionBudget default/web needs 1 more healthy pod (2 of 2)");
  });

  it("waits for an unready pod's budget that is not met", () => {
    expect(textOf(aPod("p", { status: unready }), busy)).toMatch(/^waiting/);
  });

  it("waits while an evicted pod is terminating: its budget is not misconfigured", () => {
    const status = { ...none, disruptedPods: { other: "2026-01-01T00:00:00Z" } };
    expect(textOf(aPod(), aBudget({ status }))).toMatch(/^waiting/);
  });

  it.each([
    [{ maxUnavailable: 0 }, "maxUnavailable is 0"],
    [{ maxUnavailable: "0%" }, "maxUnavailable is 0%"],
    [{ minAvailable: "100%" }, "minAvailable is 100%"],
    [{ minAvailable: 2 }, "all 2 pods are healthy and it requires 2 of them"],
  ])("names a budget that can never be met: %j", (spec, why) => {
    const budget = aBudget({ spec, status: { ...none, desiredHealthy: 2 } });
    expect(textOf(aPod(), budget)).toBe(
      `misconfigured: PodDisruptionBudget default/web can never be met: ${why}; change it, or run more pods`,
    );
  });

  it("does not call a budget impossible while a pod is unhealthy, as MCM (MCM, `pkg/util/provider/drain/drain_test.go`)", () => {
    const budget = aBudget({
      spec: { maxUnavailable: 0 },
      status: { ...none, expectedPods: 3, currentHealthy: 2, desiredHealthy: 3 },
    });
    expect(textOf(aPod(), budget)).toMatch(/^waiting/);
  });

  it("selects all pods of its namespace with an empty selector, and none without one", () => {
    expect(textOf(aPod(), aBudget({ spec: { selector: {} }, status: none }))).toMatch(/^misconfigured/);
    expect(textOf(aPod(), { metadata: { name: "b", namespace: "default" }, status: none })).toBe("free");
  });

  it("knows that the API server evicts no pod with two budgets", () => {
    const other = aBudget({ metadata: { name: "all" }, spec: { selector: {} } });
    expect(textOf(aPod(), aBudget(), other)).toBe(
      "ambiguous: PodDisruptionBudgets default/all and default/web both select the pod, and the API server evicts no pod with more than one; change their selectors",
    );
  });

  it("treats missing fields of a budget as zero", () => {
    const bare: Budget = { metadata: { name: "b", namespace: "default" }, spec: { selector: {} }, status: {} };
    expect(textOf(aPod(), bare)).toBe("waiting: PodDisruptionBudget default/b needs 1 more healthy pod (0 of 0)");
  });
});
